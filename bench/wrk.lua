-- Sends the requests of a file one after the other, and prints what came of it as JSON.
-- Arguments: the file, and the number of the request to begin with.

local requests = {}
local position = 0
local threads = {}

function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  local text = file:read("*a")
  file:close()
  for request in text:gmatch("[^%z]+") do
    requests[#requests + 1] = request
  end
  -- Threads begin at different places: they are not to ask for the same person at the same time.
  position = (tonumber(args[2]) + number * 7919) % #requests
  -- A global one, so that `done` can read it. The processor time until now went into reading the file.
  cpu_at_start = os.clock()
end

function request()
  position = position + 1
  if position > #requests then
    position = 1
  end
  return requests[position]
end

function done(summary, latency)
  local errors = summary.errors
  local cpu = os.clock() - threads[#threads]:get("cpu_at_start")
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"bad":%d,"p50":%d,"p99":%d,"cpuSeconds":%f}\n',
    summary.requests,
    summary.duration,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50),
    latency:percentile(99),
    cpu
  ))
end

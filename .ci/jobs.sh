# shellcheck shell=bash
# Jobs that run side by side. What each prints is kept apart and shown when its turn comes: in the
# order of their start, whatever order they end in. Sourced by .ci/run.

work=$(mktemp -d)
titles=()
pids=()
shown=0
passed=0
failed=0

# Each job is a process group of its own, so that nothing it started outlives this script.
set -m
stop_jobs() {
  local pid
  for pid in $(jobs -p); do kill -TERM -- "-$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap stop_jobs EXIT

# How many gates run at a time: as many as there are cores, with 3 GiB of memory for each.
slots() {
  local cores gigabytes
  cores=$(node -p 'require("node:os").availableParallelism()')
  gigabytes=$(node -p 'Math.floor(require("node:os").totalmem() / 2 ** 30)')
  echo $((cores * 3 <= gigabytes ? cores : (gigabytes >= 6 ? gigabytes / 3 : 1)))
}

# launch NAME COMMAND...: runs it in the background; $work/NAME.status appears when it has ended.
launch() {
  local name=$1
  shift
  (
    set +e
    began=$SECONDS
    ("$@") >"$work/$name.log" 2>&1
    echo $? >"$work/$name.ended"
    echo $((SECONDS - began)) >"$work/$name.seconds"
    mv "$work/$name.ended" "$work/$name.status"
  ) </dev/null &
  launched=$!
}

# prepare NAME COMMAND...: begins something that gates wait for, beside whatever else runs.
prepare() {
  launch "$@"
  eval "prepared_$1=$launched"
}

# after NAME COMMAND...: runs the command when what was prepared under that name has ended, well or
# badly: what is missing then is for the command to say.
after() {
  local name=$1 pid
  eval "pid=\${prepared_$1:-}"
  shift
  while [ -n "$pid" ] && [ ! -e "$work/$name.status" ] && kill -0 "$pid" 2>/dev/null; do sleep 1; done
  "$@"
}

# check TITLE COMMAND...: passes when the command ends with 0; counts only when it fails.
# gate TITLE COMMAND...: has to end with a line "N passed, N failed", and adds its counts.
check() { start_job check "$@"; }
gate() { start_job gate "$@"; }

start_job() {
  local kind=$1 title=$2
  shift 2
  until [ "$(count_running)" -lt "$limit" ]; do
    sleep 1
    show_ended
  done
  launch "${#titles[@]}" "$@"
  titles+=("$kind $title")
  pids+=("$launched")
}

has_ended() { [ -e "$work/$1.status" ] || ! kill -0 "${pids[$1]}" 2>/dev/null; }

count_running() {
  local id count=0
  for ((id = shown; id < ${#titles[@]}; id++)); do has_ended "$id" || count=$((count + 1)); done
  echo "$count"
}

# Waits for every job that was started, and shows them.
finish_jobs() {
  until [ "$shown" -eq "${#titles[@]}" ]; do
    show_ended
    if [ "$shown" -lt "${#titles[@]}" ]; then sleep 1; fi
  done
}

show_ended() {
  while [ "$shown" -lt "${#titles[@]}" ] && has_ended "$shown"; do
    show_job "$shown"
    shown=$((shown + 1))
  done
}

show_job() {
  local id=$1 kind=${titles[$1]%% *} title=${titles[$1]#* } status counts job_passed job_failed
  # A job that was killed leaves no status.
  status=$(cat "$work/$id.status" 2>/dev/null || echo 137)
  printf '\n== %s (%s s)\n' "$title" "$(cat "$work/$id.seconds" 2>/dev/null || echo '?')"
  cat "$work/$id.log"
  job_passed=0
  job_failed=0
  if [ "$kind" = gate ]; then
    counts=$(grep -oE '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$work/$id.log" | tail -n 1 || true)
    job_passed=$(grep -oE '^[0-9]+' <<<"$counts" || echo 0)
    job_failed=$(grep -oE '[0-9]+ failed' <<<"$counts" | grep -oE '[0-9]+' || echo 0)
    # A gate that counts nothing has failed, whatever it ends with.
    if [ "$job_passed" -eq 0 ] && [ "$job_failed" -eq 0 ]; then status=1; fi
  fi
  if [ "$status" -ne 0 ] && [ "$job_failed" -eq 0 ]; then
    echo "FAILED: $title (exit status $status)"
    job_failed=1
  fi
  passed=$((passed + job_passed))
  failed=$((failed + job_failed))
}

# Ends the script with the closing line.
conclude() {
  printf '\nThis took %s s.\n%s passed, %s failed\n' "$SECONDS" "$passed" "$failed"
  if [ "$failed" -gt 0 ] || [ "$passed" -eq 0 ]; then exit 1; fi
  exit 0
}

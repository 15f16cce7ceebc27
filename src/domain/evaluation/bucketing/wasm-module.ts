/**
 * Just enough of WebAssembly's binary format to write a module of one function that works on a
 * memory given to it. Names of instructions are those of the specification.
 */

// Node's own types leave these out.
declare global {
  namespace WebAssembly {
    class Memory {
      readonly buffer: ArrayBuffer;
      constructor(size: { readonly initial: number; readonly maximum: number });
    }
    class Module {
      constructor(bytes: Uint8Array<ArrayBuffer>);
    }
    class Instance {
      readonly exports: Readonly<Record<string, unknown>>;
      constructor(
        module: Module,
        imports: Readonly<Record<string, Readonly<Record<string, Memory>>>>,
      );
    }
  }
}

const MAGIC_AND_VERSION = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const SECTION = { type: 1, import: 2, function: 3, export: 7, code: 10 } as const;
const FUNCTION_TYPE = 0x60;
const MEMORY_IMPORT = 0x02;
const I32 = 0x7f;
const V128 = 0x7b;
const VOID_BLOCK = 0x40;
const VECTOR_PREFIX = 0xfd;
const END = 0x0b;

const PLAIN_OPS = {
  loop: [0x03, VOID_BLOCK],
  if: [0x04, VOID_BLOCK],
  end: [END],
  'i32.eqz': [0x45],
  'i32.add': [0x6a],
  'i32.sub': [0x6b],
  'i32.and': [0x71],
} as const;

const VECTOR_OPS = {
  'i32x4.splat': 0x11,
  'i32x4.gt_s': 0x3b,
  'v128.and': 0x4e,
  'v128.andnot': 0x4f,
  'v128.or': 0x50,
  'v128.xor': 0x51,
  'v128.bitselect': 0x52,
  'v128.any_true': 0x53,
  'i32x4.shl': 0xab,
  'i32x4.shr_u': 0xad,
  'i32x4.add': 0xae,
} as const;

/** Instructions that take an address: opcode, and log2 of the alignment that they may assume. */
const MEMORY_OPS = {
  'i32.load': { code: [0x28], alignment: 2 },
  'v128.load': { code: [VECTOR_PREFIX, 0x00], alignment: 4 },
  'v128.store': { code: [VECTOR_PREFIX, 0x0b], alignment: 4 },
  'v128.load32_zero': { code: [VECTOR_PREFIX, 0x5c], alignment: 0 },
} as const;
const LOAD_LANE = [VECTOR_PREFIX, 0x56];

/** A function under construction: each call appends one instruction. */
export class WasmFunction {
  readonly #code: number[] = [];
  readonly #parameters: number;
  readonly #types: number[] = [];

  /** All parameters are i32; there is no result. */
  constructor(parameters: number) {
    this.#parameters = parameters;
  }

  /** A new local, zero at first. */
  local(type: 'i32' | 'v128'): number {
    return this.#parameters + this.#types.push(type === 'i32' ? I32 : V128) - 1;
  }

  get(...locals: readonly number[]): this {
    for (const local of locals) this.#code.push(0x20, ...unsigned(local));
    return this;
  }

  set(local: number): this {
    this.#code.push(0x21, ...unsigned(local));
    return this;
  }

  tee(local: number): this {
    this.#code.push(0x22, ...unsigned(local));
    return this;
  }

  i32(value: number): this {
    this.#code.push(0x41, ...signed(value));
    return this;
  }

  /** A vector with the same number in all four lanes. */
  i32x4(value: number): this {
    return this.i32(value).vector('i32x4.splat');
  }

  op(name: keyof typeof PLAIN_OPS): this {
    this.#code.push(...PLAIN_OPS[name]);
    return this;
  }

  vector(...names: readonly (keyof typeof VECTOR_OPS)[]): this {
    for (const name of names) this.#code.push(VECTOR_PREFIX, ...unsigned(VECTOR_OPS[name]));
    return this;
  }

  /** Leaves `depth` enclosing blocks; for a loop this starts it again. */
  branch(depth: number): this {
    this.#code.push(0x0c, ...unsigned(depth));
    return this;
  }

  memory(name: keyof typeof MEMORY_OPS, offset: number): this {
    const { code, alignment } = MEMORY_OPS[name];
    this.#code.push(...code, alignment, ...unsigned(offset));
    return this;
  }

  /** `v128.load32_lane`: takes an address and a vector, replaces one lane of the vector. */
  loadLane(lane: number, offset: number): this {
    this.#code.push(...LOAD_LANE, 0, ...unsigned(offset), lane);
    return this;
  }

  /** The module: it imports its memory as `env.memory` and exports this function as `run`. */
  toModule(): Uint8Array<ArrayBuffer> {
    const parameters = Array.from({ length: this.#parameters }, () => [I32]);
    const locals = vector(this.#types.map((type) => [1, type]));
    const body = [...locals, ...this.#code, END];
    return Uint8Array.from([
      ...MAGIC_AND_VERSION,
      ...section(SECTION.type, [FUNCTION_TYPE, ...vector(parameters), ...vector([])]),
      ...section(SECTION.import, [...name('env'), ...name('memory'), MEMORY_IMPORT, 0, 1]),
      ...section(SECTION.function, [0]),
      ...section(SECTION.export, [...name('run'), 0, 0]),
      ...section(SECTION.code, [...unsigned(body.length), ...body]),
    ]);
  }
}

/** A section with one entry. */
function section(id: number, entry: readonly number[]): number[] {
  const content = vector([entry]);
  return [id, ...unsigned(content.length), ...content];
}

function vector(entries: readonly (readonly number[])[]): number[] {
  return [...unsigned(entries.length), ...entries.flat()];
}

function name(text: string): number[] {
  return [...unsigned(text.length), ...Array.from(text, (each) => each.charCodeAt(0))];
}

/** Unsigned LEB128. */
function unsigned(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >>> 7;
  return rest === 0 ? [low] : [low | 0x80, ...unsigned(rest)];
}

/** Signed LEB128 of a 32-bit integer. */
function signed(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >> 7;
  const isLast = rest === ((low & 0x40) === 0 ? 0 : -1);
  return isLast ? [low] : [low | 0x80, ...signed(rest)];
}

/** What is wrong with a body: JSON that is none, an encoding around it, or a bound that it breaks. */
export type DecodeFaultKind = 'syntax' | 'encoding' | 'media_type' | 'too_large';

/**
 * A body that cannot be decoded. `reason` is a clause without a full stop; the error style of the
 * operation makes a sentence of it.
 */
export class DecodeFault extends Error {
  override readonly name = 'DecodeFault';
  readonly kind: DecodeFaultKind;
  readonly reason: string;

  constructor(kind: DecodeFaultKind, reason: string) {
    super(reason);
    this.kind = kind;
    this.reason = reason;
  }
}

/** A body with more bytes than allowed, as sent or unpacked. */
export function tooManyBytes(limit: number): DecodeFault {
  return new DecodeFault('too_large', `the body is larger than ${limit} bytes`);
}

/** A body that unpacks to many times its size. */
export function tooDense(ratio: number): DecodeFault {
  return new DecodeFault('too_large', `the body unpacks to more than ${ratio} times its size`);
}

/** JSON that holds more values than allowed. */
export function tooManyValues(limit: number): DecodeFault {
  return new DecodeFault('too_large', `the JSON holds more than ${limit} values`);
}

/** JSON that holds more objects and keys than allowed. */
export function tooManyKeys(limit: number): DecodeFault {
  return new DecodeFault('too_large', `the JSON holds more than ${limit} objects and keys`);
}

/** JSON that nests deeper than allowed. */
export function tooDeep(): DecodeFault {
  return new DecodeFault('encoding', 'the JSON is nested too deeply');
}

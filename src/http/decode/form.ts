import { isUtf8 } from 'node:buffer';
import { DecodeFault, tooManyBytes } from './decode-fault.ts';

/** Clients that send forms send single events; the field is decoded in one go. */
const FORM_MAX_BYTES = 4_194_304;

const FORM_START = /^(data|ver|_|ip|compression)=/;
const AMPERSAND = 0x26;
const PERCENT = 0x25;

/** Whether the body starts as the forms of SDKs do. */
export function startsAsForm(bytes: Buffer): boolean {
  return FORM_START.test(bytes.toString('latin1', 0, 16));
}

/** The decoded value of a field of a form; null when the form does not have it. */
export function readFormField(form: Buffer, name: string): Buffer | null {
  if (form.length > FORM_MAX_BYTES) throw tooManyBytes(FORM_MAX_BYTES);
  const start = `${name}=`;
  let from = form.toString('latin1', 0, start.length) === start ? 0 : form.indexOf(`&${start}`);
  if (from === -1) return null;
  from += start.length + (form[from] === AMPERSAND ? 1 : 0);
  const end = form.indexOf(AMPERSAND, from);
  return decodeFormValue(form.subarray(from, end === -1 ? form.length : end));
}

/**
 * The bytes that a form's value stands for. A plus sign stays: SDKs forget to escape it, and in
 * base64 it is a digit and not a space. Throws DecodeFault.
 */
export function decodeFormValue(value: Buffer): Buffer {
  if (value.length > FORM_MAX_BYTES) throw tooManyBytes(FORM_MAX_BYTES);
  const decoded = value.includes(PERCENT) ? unescapeBytes(value) : value;
  if (decoded === null || !isUtf8(decoded)) {
    throw new DecodeFault('encoding', 'Invalid UTF-8 in form data');
  }
  return decoded;
}

function unescapeBytes(value: Buffer): Buffer | null {
  const decoded = Buffer.allocUnsafe(value.length);
  let length = 0;
  for (let at = 0; at < value.length; at += 1) {
    let code = value[at] ?? 0;
    if (code === PERCENT) {
      const high = digitOf(value[at + 1]);
      const low = digitOf(value[at + 2]);
      if (high === -1 || low === -1) return null;
      code = high * 16 + low;
      at += 2;
    }
    decoded[length] = code;
    length += 1;
  }
  return decoded.subarray(0, length);
}

/** What a hexadecimal digit is worth; -1 for everything else. */
function digitOf(code: number | undefined): number {
  if (code === undefined) return -1;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

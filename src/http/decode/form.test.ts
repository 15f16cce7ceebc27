import { describe, expect, it } from 'vitest';
import { decodeFormValue, readFormField, startsAsForm } from './form.ts';

const field = (form: string, name: string) => readFormField(Buffer.from(form), name)?.toString();
const decoded = (value: string) => decodeFormValue(Buffer.from(value)).toString();

describe('startsAsForm', () => {
  it.each(['data=', 'data=x', 'ver=1&data=x', '_=1', 'ip=0', 'compression=lz64'])(
    'knows %j',
    (text) => {
      expect(startsAsForm(Buffer.from(text))).toBe(true);
    },
  );

  it.each(['', 'data', '{"data="', ' data=x', 'other=1&data=x', 'Data=x'])('leaves %j', (text) => {
    expect(startsAsForm(Buffer.from(text))).toBe(false);
  });
});

describe('readFormField', () => {
  it.each([
    ['data=x', 'x'],
    ['data=x&ip=0', 'x'],
    ['ip=0&data=x', 'x'],
    ['ip=0&data=x&ver=1', 'x'],
    ['data=first&data=second', 'first'],
    ['data=', ''],
    ['ip=0&data=&ver=1', ''],
    ['data=a=b', 'a=b'],
    ['metadata=no&data=x', 'x'],
  ])('finds data in %j', (form, value) => {
    expect(field(form, 'data')).toBe(value);
  });

  it.each(['ip=0', 'metadata=x', 'ip=data=x', 'data'])('finds none in %j', (form) => {
    expect(readFormField(Buffer.from(form), 'data')).toBeNull();
  });

  it('looks through nothing that is larger than clients send', () => {
    const form = Buffer.alloc(4_194_305, '&');
    expect(() => readFormField(form, 'data')).toThrow('larger than 4194304 bytes');
    expect(readFormField(form.subarray(1), 'data')).toBeNull();
  });
});

describe('decodeFormValue', () => {
  it.each([
    ['a+b', 'a+b'],
    ['a%20b', 'a b'],
    ['%C3%BC%f0%9f%98%80', 'ü😀'],
    ['ü', 'ü'],
    ['%25%32%35', '%25'],
    ['%00', '\0'],
    ['', ''],
  ])('reads %j', (value, text) => {
    expect(decoded(value)).toBe(text);
  });

  it('reads what encodeURIComponent writes', () => {
    const text = Array.from({ length: 2_000 }, (_, code) => String.fromCharCode(code)).join('');
    expect(decoded(encodeURIComponent(text))).toBe(text);
  });

  it.each(['%', '%2', '%2G', '%%20', 'a%', '%FF', '%C3', '%ED%A0%80'])('refuses %j', (value) => {
    expect(() => decoded(value)).toThrow('Invalid UTF-8 in form data');
  });

  it('decodes nothing that is larger than clients send', () => {
    expect(() => decodeFormValue(Buffer.alloc(4_194_305, 'x'))).toThrow('larger than 4194304');
  });
});

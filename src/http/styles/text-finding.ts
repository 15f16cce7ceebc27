import type { ErrorObject } from 'ajv';
import type { ContractOperation } from '../contract/contract-document.ts';
import { nameAsSent } from '../contract/field-aliases.ts';

/** A finding in a line of text: whether it is about the query, and what is wrong with which field. */
export interface TextFinding {
  readonly isAboutQuery: boolean;
  readonly complaint: string;
}

/** Words a finding for SDKs, with the field under the name that it was sent under. */
export function wordFindingAsText(
  finding: ErrorObject,
  operation: ContractOperation,
  body: unknown,
): TextFinding {
  const [, place, name = '', ...inside] = finding.instancePath.split('/');
  const field = [nameAsSent(body, operation.fieldAliases, name), ...inside].join('.');
  const subject = field === '' ? 'the body' : field;
  const isAboutQuery = place === 'query';
  const where = isAboutQuery ? `query parameter ${subject}` : subject;
  return { isAboutQuery, complaint: `${where} ${describeFinding(finding)}` };
}

/** The one thing that the contract rules out by `not`, in requests of this kind, is a lone value. */
function describeFinding({ keyword, message = 'is not valid' }: ErrorObject): string {
  return keyword === 'not' ? 'must not be a text, a number, true or false' : message;
}

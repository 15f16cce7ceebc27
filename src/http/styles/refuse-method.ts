import { Refusal } from '../../domain/common/refusal.ts';
import type { WireReply } from '../wire/wire.ts';
import { renderRefusal } from './render-refusal.ts';

/** The refusal of a method that a path does not have; `allow` is what it has, as in that header. */
export function refuseMethod(method: string, allow: string): WireReply {
  const refusal = new Refusal('method_not_allowed', `Method "${method}" not allowed.`);
  const reply = renderRefusal(refusal, 'management');
  return { ...reply, headers: { ...reply.headers, allow } };
}

import type { Connection } from './admission.ts';
import { appendPiece } from './append-piece.ts';
import type { BodyMessage } from './node-internals.ts';

const NOTHING = Buffer.alloc(0);

export interface ReadingBounds {
  readonly maxBytes: number;
  /** What the connection has reserved for the body already. */
  readonly reserved: number;
  /** Counts the bytes and throws them away. */
  readonly isIgnored: boolean;
}

/**
 * Reads a body. Calls back once, and not after an abort: with the bytes, or why they are not read to
 * their end, and with how many bytes the connection holds for it by then.
 */
export function readBody(
  message: BodyMessage,
  connection: Connection,
  { maxBytes, reserved, isIgnored }: ReadingBounds,
  done: (payload: Buffer | 'too_large' | 'no_room', held: number) => void,
): void {
  let body: Buffer = NOTHING;
  let bytes = 0;
  let held = reserved;
  let isDone = false;
  const end = (payload: Buffer | 'too_large' | 'no_room') => {
    isDone = true;
    body = NOTHING;
    done(payload, held);
  };
  message.takeBody((piece) => {
    if (isDone) return;
    if (piece === null) {
      end(isIgnored || body.length === bytes ? body : body.subarray(0, bytes));
      return;
    }
    const before = bytes;
    bytes += piece.length;
    if (bytes > maxBytes) {
      end('too_large');
      return;
    }
    if (isIgnored) return;
    if (bytes > held) {
      if (!connection.addBytes(bytes - held)) {
        end('no_room');
        return;
      }
      held = bytes;
    }
    // Nearly every body comes in one piece, which is the body then.
    if (before > 0 || piece.length >= reserved) {
      body = before === 0 ? piece : appendPiece(body, before, piece);
      return;
    }
    // Room for all of it at once: growing would leave as much garbage.
    body = Buffer.allocUnsafeSlow(reserved);
    piece.copy(body);
  });
}

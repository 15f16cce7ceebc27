import { IncomingMessage, type ServerResponse } from 'node:http';
import { appendPiece } from './append-piece.ts';

/**
 * All that leans on what Node does not document, in one place. Where Node has another shape than is
 * expected here, bodies are taken from the documented stream: slower, and the same otherwise.
 */

/** Told each piece of a body as it arrives, then null. Nothing more comes after an abort. */
export type TakePiece = (piece: Buffer | null) => void;

const DROP: TakePiece = () => {};

const NOTHING = Buffer.alloc(0);

const DUMP: unknown = Reflect.get(IncomingMessage.prototype, '_dump');
const PUSH: unknown = Reflect.get(IncomingMessage.prototype, 'push');

/**
 * Whether bodies can be taken from the parser: it hands each piece to `push` of the message, and
 * after the reply to one whose stream nobody read, `_dump` is called to pull the rest off the wire.
 */
export const TAKES_FROM_PARSER =
  typeof DUMP === 'function' && DUMP.length === 0 && typeof PUSH === 'function';

/** Pieces below this size are handed to the stream together, so many bytes at a time. */
const SMALL_PIECE = 1_024;
const GATHERED = 65_536;

/**
 * A request whose body can be taken as it comes from the parser. Node pushes a body into a stream,
 * which hands it on over several turns of its queue; whoever wants nothing but the bytes pays for
 * that as much as for parsing the request.
 *
 * A body that nobody takes is a stream as ever, but for pieces of a few bytes: each would take some
 * hundred bytes of memory in whatever collects them, before anybody knows who is asking.
 */
export class BodyMessage extends IncomingMessage {
  #take: TakePiece | null = null;
  #gathered: Buffer = NOTHING;
  #gatheredBytes = 0;

  /** Takes the body; to be called before the turn ends in which the request was announced. */
  takeBody(take: TakePiece, isFromParser = TAKES_FROM_PARSER): void {
    if (isFromParser) {
      this.#take = take;
      return;
    }
    this.on('data', take);
    this.once('end', () => take(null));
  }

  /**
   * Node calls this after the reply to a request whose stream nobody read, and lets the stream run
   * over several turns of its queue. A body that is taken comes anyway.
   */
  _dump(): void {
    if (this.#take === null && typeof DUMP === 'function') Reflect.apply(DUMP, this, []);
  }

  override push(piece: unknown, encoding?: BufferEncoding): boolean {
    const take = this.#take;
    if (take === null) return this.#pushGathered(piece, encoding);
    // The parser holds on to the message until the connection's next one: without its body.
    if (piece === null) this.#take = DROP;
    if (piece === null || Buffer.isBuffer(piece)) take(piece);
    return true;
  }

  #pushGathered(piece: unknown, encoding?: BufferEncoding): boolean {
    if (!Buffer.isBuffer(piece) || piece.length >= SMALL_PIECE) {
      this.#pushHeld();
      return super.push(piece, encoding);
    }
    const bytes = this.#gatheredBytes;
    this.#gathered = bytes === 0 ? piece : appendPiece(this.#gathered, bytes, piece);
    this.#gatheredBytes = bytes + piece.length;
    return this.#gatheredBytes < GATHERED || this.#pushHeld();
  }

  #pushHeld(): boolean {
    if (this.#gatheredBytes === 0) return true;
    const held = this.#gathered.subarray(0, this.#gatheredBytes);
    this.#gathered = NOTHING;
    this.#gatheredBytes = 0;
    return super.push(held);
  }
}

/**
 * Keeps the connection for a while after a reply that comes before the end of the body. To end it at
 * once would be too early: the system answers what was not read with a reset, and the client never
 * sees the refusal.
 */
export function lingerAfter(response: ServerResponse, message: IncomingMessage, ms: number): void {
  const { socket } = message;
  const isLast = !response.shouldKeepAlive;
  // Node would end the connection with the reply.
  response.shouldKeepAlive = true;
  response.once('finish', () => {
    const timer = setTimeout(() => {
      if (isLast || !message.complete) socket.destroy();
    }, ms);
    timer.unref();
  });
}

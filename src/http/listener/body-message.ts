import { IncomingMessage } from 'node:http';
import { appendPiece } from './append-piece.ts';

/** Told each piece of a body as it arrives, then null. Nothing more comes after an abort. */
export type TakePiece = (piece: Buffer | null) => void;

const DROP: TakePiece = () => {};

const NOTHING = Buffer.alloc(0);

/** Node's own, which its types do not tell of. */
const DUMP: unknown = Reflect.get(IncomingMessage.prototype, '_dump');

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
  takeBody(take: TakePiece): void {
    this.#take = take;
  }

  /**
   * Node calls this after the reply to a request whose stream nobody read, to pull the rest off the
   * wire, and lets the stream run for that over several turns of its queue. A body that is taken
   * comes anyway.
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

import { IncomingMessage } from 'node:http';

/** Told each piece of a body as it arrives, then null. Nothing more comes after an abort. */
export type TakePiece = (piece: Buffer | null) => void;

const DROP: TakePiece = () => {};

/**
 * A request whose body can be taken as it comes from the parser. Node pushes a body into a stream,
 * which hands it on over several turns of its queue; whoever wants nothing but the bytes pays for
 * that as much as for parsing the request. A body that nobody takes is a stream as ever.
 */
export class BodyMessage extends IncomingMessage {
  #take: TakePiece | null = null;

  /** Takes the body; to be called before the turn ends in which the request was announced. */
  takeBody(take: TakePiece): void {
    this.#take = take;
  }

  override push(piece: unknown, encoding?: BufferEncoding): boolean {
    const take = this.#take;
    if (take === null) return super.push(piece, encoding);
    // The parser holds on to the message until the connection's next one: without its body.
    if (piece === null) this.#take = DROP;
    if (piece === null || Buffer.isBuffer(piece)) take(piece);
    return true;
  }
}

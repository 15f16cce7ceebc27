const ROOM_MIN = 65_536;

/**
 * The first `length` bytes of `body` with the piece behind them. Room doubles as it is used up:
 * keeping the pieces would take far more than their bytes when they are tiny.
 */
export function appendPiece(body: Buffer, length: number, piece: Buffer): Buffer {
  let wider = body;
  if (length + piece.length > body.length) {
    wider = Buffer.allocUnsafeSlow(Math.max(ROOM_MIN, 2 * (length + piece.length)));
    body.copy(wider, 0, 0, length);
  }
  piece.copy(wider, length);
  return wider;
}

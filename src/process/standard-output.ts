/**
 * Lets the process outlive whoever reads its standard output or standard error, such as the `head`
 * of `burgee serve | head -1`: what is printed then is lost, and nothing else. Any other failure of
 * these streams stays an uncaught error.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

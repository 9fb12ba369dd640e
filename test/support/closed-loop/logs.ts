/** One line of a function's log. */
export type LogLine = Readonly<Record<string, unknown>> & {
  readonly level: string;
  readonly message: string;
};

type Write = NodeJS.WriteStream['write'];

/**
 * What the functions say, taken from the process's output as CloudWatch takes it. Everything that
 * is no line of a log goes on to the terminal; with `echo` the log does, too.
 */
export class LogTap {
  readonly lines: LogLine[] = [];
  private readonly echo: boolean;
  private readonly restores: (() => void)[] = [];

  constructor(echo: boolean) {
    this.echo = echo;
  }

  start(): void {
    for (const stream of [process.stdout, process.stderr]) {
      const original = stream.write;
      const write = original.bind(stream);
      const tapped = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
        const isLog = this.take(String(chunk));
        if (isLog && !this.echo) return true;
        return Reflect.apply(write, stream, [chunk, ...rest]) === true;
      };
      stream.write = tapped as Write;
      this.restores.push(() => {
        stream.write = original;
      });
    }
  }

  stop(): void {
    for (const restore of this.restores.splice(0)) restore();
  }

  private take(text: string): boolean {
    if (!text.startsWith('{"level"')) return false;
    for (const line of text.trim().split('\n')) this.lines.push(JSON.parse(line) as LogLine);
    return true;
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';

const STOP_MS_MAX = 5_000;
/** Enough of a program's last words to tell why it ended. */
const KEPT_OUTPUT = 8_000;

/** A program that was started here and is ended here, by its own process id. */
export interface Program {
  readonly name: string;
  /** The last of what it printed. */
  output(): string;
  /** Undefined while it runs. */
  exitCode(): number | undefined;
  /** It does nothing until {@link resume}: who asks it waits. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();

// A test run that is cut short must not leave servers behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a program with nothing of our environment but the PATH and the home folder. */
export function startProgram(name: string, path: string, args: readonly string[]): Program {
  const child = spawn(path, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  });
  running.add(child);
  let kept = '';
  let code: number | undefined;
  const keep = (chunk: Buffer): void => {
    kept = (kept + chunk.toString('utf8')).slice(-KEPT_OUTPUT);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = new Promise<void>((resolve) => {
    const end = (exit: number): void => {
      code ??= exit;
      running.delete(child);
      resolve();
    };
    child.once('exit', (exit) => end(exit ?? -1));
    child.once('error', (error) => {
      kept += String(error);
      end(-1);
    });
  });
  const stop = async (): Promise<void> => {
    if (code !== undefined) return;
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
    await ended;
    clearTimeout(timer);
  };
  return {
    name,
    output: () => kept,
    exitCode: () => code,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    stop,
  };
}

/** Ports of the loopback interface that were free a moment ago; all different. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject);
          server.listen(0, '127.0.0.1', () => {
            const address = server.address();
            if (address === null || typeof address === 'string') reject(new Error('no port'));
            else resolve(address.port);
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

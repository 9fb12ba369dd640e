import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { close, listen } from '../loopback.ts';

/** Whether a `prometheus` is on the PATH, and of which version. */
export function prometheusVersion(): string | undefined {
  try {
    const text = execFileSync('prometheus', ['--version'], { encoding: 'utf8', stdio: 'pipe' });
    return /version (\S+)/.exec(text)?.[1];
  } catch {
    return undefined;
  }
}

/** A series of an answer with its values. */
export interface FoundSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: string])[];
}

/** A Prometheus of a test's own, which takes remote write and scrapes nothing. */
export interface Prometheus {
  readonly writeEndpoint: URL;
  /** Values every minute between the two moments. */
  range(query: string, fromMs: number, toMs: number): Promise<readonly FoundSeries[]>;
  /** What a variable of Grafana holds: `label_values(metric, label)`. */
  labelValues(
    metric: string,
    label: string,
    fromMs: number,
    toMs: number,
  ): Promise<readonly string[]>;
  stop(): Promise<void>;
}

const READY_MS_MAX = 60_000;
const READY_EVERY_MS = 100;

export async function startPrometheus(): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'joiner-prometheus-'));
  const config = join(folder, 'prometheus.yml');
  writeFileSync(config, '{}\n');
  const address = await freeAddress();
  const options = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
    '--web.enable-remote-write-receiver',
    '--log.level=warn',
  ];
  const server = spawn('prometheus', options, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const url = `http://${address}`;
  await ready(url, server, () => said);
  return {
    writeEndpoint: new URL(`${url}/api/v1/write`),
    range: async (query, fromMs, toMs) => {
      const times = { start: String(fromMs / 1000), end: String(toMs / 1000), step: '60' };
      const { result } = await api(url, 'query_range', { query, ...times });
      return result;
    },
    labelValues: async (metric, label, fromMs, toMs) => {
      const times = { start: String(fromMs / 1000), end: String(toMs / 1000) };
      const found = await api(url, 'series', { 'match[]': metric, ...times });
      const values: string[] = found.flatMap((each: FoundSeries['metric']) => each[label] ?? []);
      return [...new Set(values)].sort();
    },
    stop: async () => {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freeAddress(): Promise<string> {
  const server = createServer();
  const url = await listen(server);
  await close(server);
  return new URL(url).host;
}

async function ready(url: string, server: ChildProcess, said: () => string): Promise<void> {
  const endsAtMs = performance.now() + READY_MS_MAX;
  while (performance.now() < endsAtMs) {
    if (server.exitCode !== null) throw new Error(`prometheus has ended: ${said()}`);
    const isReady = await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await sleep(READY_EVERY_MS);
  }
  server.kill();
  throw new Error(`prometheus is not ready: ${said()}`);
}

async function api(url: string, path: string, fields: Readonly<Record<string, string>>) {
  const body = new URLSearchParams(fields);
  const answer = await fetch(`${url}/api/v1/${path}`, { method: 'POST', body });
  const { status, data, error } = JSON.parse(await answer.text());
  if (status !== 'success') throw new Error(`${JSON.stringify(fields)}: ${error}`);
  return data;
}

/**
 * The functions as they are deployed, in cold processes: `npm run bench -- functions`. Bytes that
 * are read at start and in all, CPU of importing the bundle next to an empty module in the same
 * run, and the time from the start of the process until the first event is handled.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bundle, bundleFunction } from '../infra/bundle.ts';
import { ENV, FUNCTION_NAMES, type FunctionName } from '../shared/contract.ts';
import { BUCKET, CLUSTER, WireCloud } from '../test/support/aws/cloud.ts';
import { EmptyCluster } from '../test/support/bundles/empty-cluster.ts';
import { queueRecord } from '../test/support/closed-loop/messages.ts';

const RUNS = 15;

/**
 * The limit for importing: this many times the CPU of an empty module, and these milliseconds. It
 * is 150 ms on a machine that reads an empty module in 25 ms.
 */
const LIMIT = { factor: 3, ms: 75 };

/** An idle tick: nothing is pending and nothing is wrong; of the others the least there can be. */
const EVENTS: Readonly<Record<FunctionName, object>> = {
  watch: {},
  provision: {},
  lifecycle: {},
  disrupt: {},
  interrupt: { Records: [queueRecord('1', '{}')] },
  nodeclass: {},
  catalog: {},
  events: { detail: { bucket: { name: BUCKET }, object: { key: 'clusters/demo/decisions/none' } } },
  metrics: {},
  shadow: {},
  install: {
    RequestType: 'Create',
    ResourceProperties: { Step: 'check', Cluster: CLUSTER },
  },
};

/** Time for one pass; `watch` begins its watches and has to leave. */
const REMAINING_MS: Readonly<Partial<Record<FunctionName, number>>> = { watch: 15_100 };
const ONE_PASS_MS = 20_300;

/** What a cold process has needed since it began. */
interface Cold {
  readonly wallMs: number;
  readonly cpuMs: number;
}

const REPORT = `
  const { user, system } = process.cpuUsage();
  const line = JSON.stringify({ wallMs: performance.now(), cpuMs: (user + system) / 1000 });
  process.stderr.write('\\n@@' + line, () => process.exit(0));`;

function importing(file: string): string {
  return `await import(${JSON.stringify(file)});${REPORT}`;
}

function handling(file: string, name: FunctionName, event: object): string {
  return `
    const { handler } = await import(${JSON.stringify(file)});
    const context = {
      awsRequestId: 'bench', functionName: ${JSON.stringify(name)}, memoryLimitInMB: '1769',
      getRemainingTimeInMillis: () => ${REMAINING_MS[name] ?? ONE_PASS_MS} - performance.now(),
    };
    await handler(${JSON.stringify(event)}, context);${REPORT}`;
}

/** Asynchronous, as the servers that it speaks to are in this process. */
async function cold(script: string, env: Readonly<Record<string, string>>): Promise<Cold> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  const [, line] = text.split('@@');
  if (line === undefined) throw new Error(text);
  return JSON.parse(line) as Cold;
}

/** One script in a cold process, again and again. */
interface Subject {
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The medians of each subject, all in turn, so that a busy moment is everybody's. */
async function medians(
  subjects: readonly Subject[],
  before: () => void = () => {},
): Promise<readonly Cold[]> {
  const runs: Cold[][] = subjects.map(() => []);
  for (let round = 0; round < RUNS; round += 1) {
    for (const [at, { script, env }] of subjects.entries()) {
      before();
      runs[at]?.push(await cold(script, env));
    }
  }
  return runs.map((each) => ({
    wallMs: median(each.map(({ wallMs }) => wallMs)),
    cpuMs: median(each.map(({ cpuMs }) => cpuMs)),
  }));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => statSync(join(folder, file)))
    .reduce((sum, each) => sum + (each.isFile() ? each.size : 0), 0);
}

function environment(name: FunctionName, endpoint: string): Readonly<Record<string, string>> {
  return {
    [ENV.cluster]: CLUSTER,
    [ENV.function]: name,
    [ENV.version]: 'bench',
    [ENV.account]: '111122223333',
    [ENV.dnsSuffix]: 'amazonaws.com',
    [ENV.bucket]: BUCKET,
    [ENV.eventBus]: 'joiner-demo',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_ENDPOINT_URL: endpoint,
  };
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'joiner-bundles-'));
  const cloud = new WireCloud();
  const cluster = new EmptyCluster();
  await cloud.start();
  const api = await cluster.listen();
  cloud.cluster = {
    ...cloud.cluster,
    endpoint: api,
    accessConfig: { authenticationMode: 'API' },
    resourcesVpcConfig: { endpointPublicAccess: true },
  };
  try {
    const bundles = [];
    for (const name of FUNCTION_NAMES) bundles.push(await bundleFunction(name, folder));
    const empty = join(folder, 'empty.mjs');
    writeFileSync(empty, 'export const handler = async () => {};\n');
    const [base, ...imported] = await medians([
      { script: importing(empty), env: {} },
      ...bundles.map((each) => ({
        script: importing(entryOf(each)),
        env: environment(each.name, cloud.endpoint),
      })),
    ]);
    const first = await medians(
      bundles.map((each) => ({
        script: handling(entryOf(each), each.name, {
          ...EVENTS[each.name],
          ResponseURL: `${api}/apis/answer`,
        }),
        env: environment(each.name, cloud.endpoint),
      })),
      () => {
        cluster.forget();
        cloud.bucket.objects.clear();
      },
    );
    report(bundles, base ?? NOTHING, imported, first);
  } finally {
    await cluster.close();
    await cloud.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const NOTHING: Cold = { wallMs: 0, cpuMs: 0 };

function entryOf({ folder }: Bundle): string {
  return join(folder, 'index.mjs');
}

function report(
  bundles: readonly Bundle[],
  base: Cold,
  imported: readonly Cold[],
  first: readonly Cold[],
): void {
  const limitMs = LIMIT.factor * base.cpuMs + LIMIT.ms;
  console.log(`An empty module: ${base.cpuMs.toFixed(0)} ms CPU, ${base.wallMs.toFixed(0)} ms.`);
  console.log(`The limit of importing is ${limitMs.toFixed(0)} ms CPU.\n`);
  console.log(
    '| function | kB at start | kB in all | import, ms CPU | × empty | first event, ms | ms CPU |',
  );
  console.log('|---|---|---|---|---|---|---|');
  for (const [at, { name, bytes, folder }] of bundles.entries()) {
    const { cpuMs } = imported[at] ?? NOTHING;
    const cells = [
      name,
      (bytes / 1000).toFixed(0),
      (bytesBelow(folder) / 1000).toFixed(0),
      `${cpuMs.toFixed(0)}${cpuMs > limitMs ? ' (too much)' : ''}`,
      (cpuMs / base.cpuMs).toFixed(2),
      first[at]?.wallMs.toFixed(0),
      first[at]?.cpuMs.toFixed(0),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

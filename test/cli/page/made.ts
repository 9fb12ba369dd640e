import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { previewPacking } from '../../../cli/packing/preview.ts';
import { withChanges } from '../../../cli/plan/changes.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { preview } from '../../../shared/preview/preview.ts';
import { objectAt } from '../../../shared/sim/json.ts';
import { anObservation } from '../../builders/observations.ts';
import { NODE_CLASS, nodePool, recordedTo, workload } from '../../builders/recorded-month.ts';
import { deployment, nodeClass, nodePool as smallPool, smallWorld } from '../../sim/small-world.ts';
import { spread } from '../../unit/app/world.ts';
import { inFolder, joiner } from '../run.ts';

const MINUTE_MS = 60_000;
/** A live cluster's plan: an empty node goes, and manifests need more; as `plan -o json` prints it. */
export async function planned() {
  const pool = smallPool(['on-demand', 'spot']);
  const pods = [spread('web', 3), deployment('job', 4, '700m')];
  const { world, script } = await smallWorld([nodeClass, pool, ...pods]);
  await world.run(world.timeline.nowMs() + 3 * MINUTE_MS);
  script.apply([spread('web', 1)]);
  await world.run(world.timeline.nowMs() + 40_000);
  const { cluster, catalog } = world.ports;
  const other = {
    ...pool,
    metadata: { name: 'other' },
    spec: { ...objectAt(pool, 'spec'), weight: 9 },
  };
  const { state } = withChanges(await cluster.read(), [other, deployment('api', 30, '1500m')]);
  const prices = await loadCatalog('us-east-1');
  const nowMs = world.timeline.nowMs();
  const found = await preview({ live: cluster, state, catalog, prices, nowMs });
  const { plan, snapshot: _, ...rest } = found;
  const json = { ...rest, summary: { failed: plan.unplaced.size }, packing: previewPacking(found) };
  return { json, found };
}

const ROLE = { nodePool: 'general', zone: 'us-east-1a', capacityType: 'on-demand' };

/** Two hours beside Karpenter: pods wait, a node comes, plans remove it, and it goes. */
export function observations(): string {
  const all = Array.from({ length: 120 }, (_, minute) => {
    const at = (of: number): string => new Date(Date.UTC(2026, 0, 1, 0, of)).toISOString();
    const machine = { ...ROLE, instanceType: 'm6i.xlarge', usdPerHour: 0.192 };
    const node = { nodeClaim: 'general-a', ...machine, createdAt: at(11), isLeaving: false };
    const isThere = minute > 11 && minute < 100;
    const isIdle = isThere && minute > 60;
    const pending = minute === 10 || minute === 11 ? ['shop/a', 'shop/b'] : [];
    const instead = { ...ROLE, instanceType: 'm7g.large', usdPerHour: 0.0816 };
    const removal = { nodeClaim: 'general-a', action: 'remove' as const, why: 'empty', pods: 0 };
    return anObservation({
      at: at(minute),
      nodes: isThere ? [{ ...node, pods: isIdle ? 0 : 2 }] : [],
      pending,
      launches: pending.length === 0 ? [] : [{ ...instead, pods: pending, replaces: [] }],
      removals: isIdle ? [{ ...removal, usdPerHour: 0.192 }] : [],
      usdPerHour: { now: isThere ? 0.192 : 0, after: 0 },
    });
  });
  return all.map((each) => `${JSON.stringify(each)}\n`).join('');
}

export const ROOT = join(import.meta.dirname, '..', '..', '..');

/** The page that a command line writes, and what it prints. */
async function written(...args: readonly string[]) {
  return inFolder({}, async (folder) => {
    const file = join(folder, 'page.html');
    const { exitCode, stdout, stderr } = await joiner(...args, '--html', file);
    // Where another result was found, or pods wait with --strict, there is a page all the same.
    if (exitCode > 1) throw new Error(stderr);
    return { page: readFileSync(file, 'utf8'), stdout };
  });
}

/** The page that a command line writes. */
export async function pageOf(...args: readonly string[]): Promise<string> {
  return (await written(...args)).page;
}

/** The page, and the JSON that it is made from. */
export async function printedPage(...args: readonly string[]) {
  const { page, stdout } = await written(...args, '-o', 'json');
  const json: Readonly<Record<string, unknown>> = JSON.parse(stdout);
  return { page, json };
}

/**
 * A recorded plan and a recorded move, of which the plan is told to have been another one: a large
 * pod goes, and the small one beside it moves to a smaller node.
 */
export async function withRecordings<Value>(
  work: (files: readonly string[]) => Promise<Value>,
): Promise<Value> {
  const manifests = [
    NODE_CLASS,
    nodePool('general', { 'karpenter.sh/capacity-type': ['on-demand'] }),
    workload('small', 1, { cpu: '200m', memory: '256Mi' }),
    workload('large', 1, { cpu: '15', memory: '50Gi' }),
  ];
  const steps = [{ at: '15m', scale: { name: 'large', replicas: 0 } }];
  return inFolder({}, async (folder) => {
    await recordedTo(folder, 1 / 24, manifests, steps);
    const snapshots = join(folder, 'snapshots');
    const names = readdirSync(snapshots);
    const paths = ['provision-', 'disrupt-'].map((prefix) =>
      join(snapshots, names.find((name) => name.startsWith(prefix)) ?? prefix),
    );
    const [plan = ''] = paths;
    const recording = JSON.parse(readFileSync(plan, 'utf8'));
    recording.answer.newNodeClaims[0].chosen.type = 'm9.huge';
    writeFileSync(plan, JSON.stringify(recording));
    return await work(paths);
  });
}

/** What a page says, a line for each block. */
export function textOf(page: string): string {
  const [, body = ''] = page.split('<body>');
  return body
    .replaceAll(/<(script|style)[^>]*>[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<\/(th|td|dt|b|span|small)>/g, ' ')
    .replaceAll(/<\/(p|a|h1|h2|h3|li|tr|dd|summary|caption|button|label|div|text)>/g, '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .split('\n')
    .map((line) => line.trim().replaceAll(/ +/g, ' '))
    .filter((line) => line !== '')
    .join('\n');
}

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_CLASS, nodePool, recordedTo, workload } from '../../builders/recorded-month.ts';
import { inFolder, joiner } from '../run.ts';

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

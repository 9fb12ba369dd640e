import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { RESOURCES } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { property, text } from '../../../shared/kube/list.ts';

const OURS = join(import.meta.dirname, '../../../infra/crds');
const KARPENTER = 'github.com/aws/karpenter-provider-aws@v1.14.1';

/** The definitions that `joiner crds` prints and the installer applies. */
export function ourCrds(): Promise<readonly object[]> {
  return readFolder(OURS);
}

/** Karpenter's released definitions, from its Go module; for comparing verdicts, never copied. */
export async function karpenterCrds(): Promise<readonly object[]> {
  const run = promisify(execFile);
  const { stdout } = await run('go', ['mod', 'download', '-json', KARPENTER]);
  const folder = text(property(JSON.parse(stdout), 'Dir'));
  return await readFolder(join(folder, 'pkg/apis/crds'));
}

async function readFolder(folder: string): Promise<readonly object[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml')).sort();
  const read = async (file: string): Promise<object> =>
    parse(await readFile(join(folder, file), 'utf8'));
  return await Promise.all(files.map(read));
}

const ESTABLISHED_MS_MAX = 20_000;

/** Applies definitions and waits until the API server serves their kinds. */
export async function establishCrds(admin: KubeClient, crds: readonly object[]): Promise<void> {
  const resource = RESOURCES.customResourceDefinitions;
  const names = crds.map((crd) => text(property(property(crd, 'metadata'), 'name')));
  await Promise.all(
    crds.map((crd, index) => admin.apply(resource, { name: names[index] ?? '' }, crd)),
  );
  for (const name of names) {
    const deadline = Date.now() + ESTABLISHED_MS_MAX;
    while (!(await isServed(admin, name))) {
      if (Date.now() > deadline) throw new Error(`${name} was not established in time`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Established is said a moment before the API server really answers for the kind. */
async function isServed(admin: KubeClient, name: string): Promise<boolean> {
  const crd = await admin.get(RESOURCES.customResourceDefinitions, { name });
  const conditions = property(property(crd, 'status'), 'conditions');
  const isEstablished = (Array.isArray(conditions) ? conditions : []).some(
    (each) => property(each, 'type') === 'Established' && property(each, 'status') === 'True',
  );
  if (!isEstablished) return false;
  const spec = property(crd, 'spec');
  const versions = property(spec, 'versions');
  const version = Array.isArray(versions) ? text(property(versions[0], 'name')) : '';
  const plural = text(property(property(spec, 'names'), 'plural'));
  const call = {
    asked: { verb: 'list', resource: name },
    method: 'GET',
    path: `/apis/${text(property(spec, 'group'))}/${version}/${plural}`,
    attemptsMax: 1,
  } as const;
  return await admin.json(call).then(
    () => true,
    () => false,
  );
}

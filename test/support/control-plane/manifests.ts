import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { resourceOf } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { property, text } from '../../../shared/kube/list.ts';
import { RIGHTS_FILES } from '../authorisation/rights.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** The objects of a YAML file of the project. */
export async function readManifests(path: string): Promise<readonly object[]> {
  const documents = parseAllDocuments(await readFile(join(ROOT, path), 'utf8'));
  return documents.map((document): object => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS();
  });
}

/** The rights of all functions, as the installer applies them. */
export async function applyRights(client: KubeClient): Promise<void> {
  for (const file of RIGHTS_FILES) await applyManifests(client, await readManifests(file));
}

/** Applies objects as the installer does, in their order. */
export async function applyManifests(
  client: KubeClient,
  manifests: readonly object[],
): Promise<void> {
  for (const manifest of manifests) {
    const kind = text(property(manifest, 'kind'));
    const version = text(property(manifest, 'apiVersion'));
    const resource = resourceOf(version, kind);
    if (resource === undefined) throw new Error(`no resource is known for ${version} ${kind}`);
    const metadata = property(manifest, 'metadata');
    const namespace = property(metadata, 'namespace');
    const address = {
      name: text(property(metadata, 'name')),
      ...(typeof namespace === 'string' ? { namespace } : {}),
    };
    await client.apply(resource, address, manifest);
  }
}

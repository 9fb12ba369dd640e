import { RESOURCES, type Resource } from '../api/resources.ts';
import type { KubeClient } from './client.ts';
import { findNamed } from './find.ts';
import { property, text } from './list.ts';
import type { Change } from './watch.ts';

/** At most so many are looked at each time, in turn. */
const LOOKS_MAX = 50;

const SCALABLES: Readonly<Record<string, Resource>> = {
  Deployment: RESOURCES.deployments,
  ReplicaSet: RESOURCES.replicaSets,
  StatefulSet: RESOURCES.statefulSets,
};

interface Target {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
}

function targetOf(buffer: unknown): Target | undefined {
  const spec = property(buffer, 'spec');
  const namespace = text(property(property(buffer, 'metadata'), 'namespace'));
  const template = text(property(property(spec, 'podTemplateRef'), 'name'));
  if (template !== '') return { resource: RESOURCES.podTemplates, namespace, name: template };
  const scalable = property(spec, 'scalableRef');
  const resource = SCALABLES[text(property(scalable, 'kind'))];
  const name = text(property(scalable, 'name'));
  return resource === undefined || name === '' ? undefined : { resource, namespace, name };
}

function keyOf({ resource, namespace, name }: Target): string {
  return `${resource.kind}/${namespace}/${name}`;
}

/**
 * The PodTemplates and workloads that CapacityBuffers name. They are looked at by name, now and
 * then: a watch would have to be of all workloads of the cluster, and a right to that.
 */
export class BufferTargets {
  /** By the buffer's namespace and name. */
  readonly #targets = new Map<string, Target>();
  /** What was last seen of each. */
  readonly #seen = new Map<string, string>();
  #turn = 0;

  /** A CapacityBuffer was found, changed or has gone. */
  note({ kind, object }: Change): void {
    const metadata = property(object, 'metadata');
    const buffer = `${text(property(metadata, 'namespace'))}/${text(property(metadata, 'name'))}`;
    const target = kind === 'deleted' ? undefined : targetOf(object);
    if (target === undefined) this.#targets.delete(buffer);
    else this.#targets.set(buffer, target);
  }

  /** Whether what one of them says has changed since it was last looked at. */
  async look(client: KubeClient): Promise<boolean> {
    const targets = new Map([...this.#targets.values()].map((each) => [keyOf(each), each]));
    for (const key of this.#seen.keys()) if (!targets.has(key)) this.#seen.delete(key);
    const all = [...targets];
    const from = all.length <= LOOKS_MAX ? 0 : (this.#turn * LOOKS_MAX) % all.length;
    this.#turn += 1;
    let isNews = false;
    const turn = [...all, ...all].slice(from, from + Math.min(all.length, LOOKS_MAX));
    for (const [key, { resource, namespace, name }] of turn) {
      const answer = await findNamed(client, resource, { namespace, name });
      if (answer.kind === 'refused') continue;
      const metadata = property(answer.object, 'metadata');
      const now = `${text(property(metadata, 'uid'))} ${property(metadata, 'generation')}`;
      const before = this.#seen.get(key);
      isNews ||= before !== undefined && before !== now;
      this.#seen.set(key, now);
    }
    return isNews;
  }
}

import { RESOURCES } from '../../../shared/api/resources.ts';
import { kubernetesClient } from '../../../shared/contract.ts';
import { podKey } from '../../../shared/core/model/pod.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import { listEach, property, text } from '../../../shared/kube/list.ts';

const SELECTION = {
  resource: RESOURCES.events,
  fieldSelector: 'reason=FailedScheduling,involvedObject.kind=Pod',
};

/**
 * Its events know of NodePools and types; kube-scheduler's know only of nodes that are there. No
 * other function writes such events, and a prefix might be anybody's.
 */
const WRITER = kubernetesClient('provision');

interface Said {
  readonly message: string;
  readonly atMs: number;
  readonly isOurs: boolean;
}

function isBetter(a: Said, b: Said | undefined): boolean {
  if (b === undefined || a.isOurs !== b.isOurs) return b === undefined || a.isOurs;
  return a.atMs >= b.atMs;
}

/**
 * Why pods wait, by `namespace/name`: the newest event of Joiner, else of kube-scheduler. Empty
 * where events may not be read.
 */
export async function readReasons(client: KubeClient): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, Said>();
  const object = (event: unknown): void => {
    const pod = property(event, 'involvedObject');
    const key = podKey({
      namespace: text(property(pod, 'namespace')),
      name: text(property(pod, 'name')),
    });
    const said: Said = {
      message: text(property(event, 'message')).replace(/^Failed to schedule pod, /, ''),
      atMs: Date.parse(text(property(event, 'lastTimestamp'))) || 0,
      isOurs: property(property(event, 'source'), 'component') === WRITER,
    };
    if (isBetter(said, found.get(key))) found.set(key, said);
  };
  try {
    await listEach(client, SELECTION, { start: () => found.clear(), object });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
  }
  return new Map([...found].map(([key, { message }]) => [key, message]));
}

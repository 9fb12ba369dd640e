import { RESOURCES } from '../shared/api/resources.ts';
import { kubernetesClient } from '../shared/contract.ts';
import { type LaunchBackoff, toldBackoff } from '../shared/core/launch/launch-backoff.ts';
import { podKey } from '../shared/core/model/pod.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import { KubeError } from '../shared/kube/errors.ts';
import { listEach, property, text } from '../shared/kube/list.ts';
import type { ClusterState } from '../shared/ports.ts';

/** Every pass writes the Event again: what was not said for so long does not hold any more. */
const SAID_MS = 5 * 60_000;
/** No other function writes such Events, and a prefix might be anybody's. */
const WRITER = kubernetesClient('provision');
const SELECTOR = 'reason=FailedScheduling,involvedObject.kind=Pod';

/** What an Event says about launches for which pod; undefined: nothing. */
export function toldBy(
  event: unknown,
  nowMs: number,
): readonly [string, LaunchBackoff, number] | undefined {
  const atMs = Date.parse(text(property(event, 'lastTimestamp')));
  const isOurs = property(property(event, 'source'), 'component') === WRITER;
  if (!isOurs || !(nowMs - atMs < SAID_MS)) return undefined;
  const pod = property(event, 'involvedObject');
  const namespace = text(property(pod, 'namespace'));
  const backoff = toldBackoff(text(property(event, 'message')));
  if (backoff === undefined) return undefined;
  return [podKey({ namespace, name: text(property(pod, 'name')) }), backoff, atMs];
}

/**
 * Pods for which nothing is launched for now, as `provision` tells in their Events: which launches
 * were in vain is in its bucket, which a workstation may not read. None where Events may not be
 * read either.
 */
export async function toldBackoffs(
  client: KubeClient,
  { objects }: Pick<ClusterState, 'objects'>,
  nowMs: number,
  note: (line: string) => void,
): Promise<ReadonlyMap<string, LaunchBackoff>> {
  const created = new Map(objects.pods.map((pod) => [podKey(pod), pod.createdAtMs]));
  let found = new Map<string, { readonly backoff: LaunchBackoff; readonly atMs: number }>();
  const object = (event: unknown): void => {
    const [pod = '', backoff, atMs = 0] = toldBy(event, nowMs) ?? [];
    if (backoff === undefined || atMs <= (found.get(pod)?.atMs ?? 0)) return;
    // One of the same name may have been there before.
    if (atMs >= (created.get(pod) ?? Number.POSITIVE_INFINITY)) found.set(pod, { backoff, atMs });
  };
  const start = (): void => {
    found = new Map();
  };
  try {
    const selection = { resource: RESOURCES.events, fieldSelector: SELECTOR };
    await listEach(client, selection, { start, object });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    note(`Events cannot be read, launches that are backed off are not known: ${error.message}`);
  }
  return new Map([...found].map(([pod, { backoff }]) => [pod, backoff]));
}

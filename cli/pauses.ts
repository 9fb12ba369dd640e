import { encodePause, PAUSE_SCOPES, PAUSES_CONFIG_MAP } from '../shared/api/pauses.ts';
import { RESOURCES } from '../shared/api/resources.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import { find } from '../shared/kube/find.ts';
import { property } from '../shared/kube/list.ts';
import type { PauseScope } from '../shared/ports/cluster.ts';

/** Keys of the ConfigMap `kube-system/joiner` and their values; null removes a key. */
export type PauseData = Readonly<Record<string, string | null>>;

/** The keys of these pauses, with an end or without one. */
export function pauseData(parts: readonly PauseScope[], untilMs?: number): PauseData {
  return Object.fromEntries(parts.map((each) => encodePause(each, untilMs)));
}

/** The keys of these pauses, removed. */
export function resumeData(parts: readonly PauseScope[]): PauseData {
  return Object.fromEntries(parts.map((each) => [encodePause(each, undefined)[0], null]));
}

/** What the ConfigMap says of pauses now, as it is written there; null: nothing. */
export async function readPauses(client: KubeClient): Promise<PauseData> {
  const data = property(await find(client, RESOURCES.configMaps, PAUSES_CONFIG_MAP), 'data');
  return Object.fromEntries(
    Object.keys(resumeData(PAUSE_SCOPES)).map((key) => {
      const value = property(data, key);
      return [key, typeof value === 'string' ? value : null];
    }),
  );
}

/**
 * Writes pauses; returns the ConfigMap. Its other keys stay. Without a ConfigMap there is nothing
 * to remove: undefined.
 */
export async function writePauses(client: KubeClient, data: PauseData): Promise<unknown> {
  const known = await find(client, RESOURCES.configMaps, PAUSES_CONFIG_MAP);
  if (known !== undefined) {
    const value = { kind: 'merge', value: { data } } as const;
    return await client.patch(RESOURCES.configMaps, PAUSES_CONFIG_MAP, value);
  }
  if (Object.values(data).every((each) => each === null)) return undefined;
  const kept = Object.fromEntries(Object.entries(data).filter(([, each]) => each !== null));
  const object = { metadata: PAUSES_CONFIG_MAP, data: kept };
  return await client.create(RESOURCES.configMaps, object, PAUSES_CONFIG_MAP.namespace);
}

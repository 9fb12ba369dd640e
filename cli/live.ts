import type { Command } from 'commander';
import { kindDecoders } from '../shared/api/kinds.ts';
import { PAUSE_SCOPES } from '../shared/api/pauses.ts';
import { isKarpenterActive, isPaused } from '../shared/app/settings.ts';
import type { LaunchBackoff } from '../shared/core/launch/launch-backoff.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import { clusterReader } from '../shared/kube/cluster-reader.ts';
import { isKubeFault } from '../shared/kube/errors.ts';
import type { ClusterReader, ClusterState } from '../shared/ports.ts';
import { type ClusterOptions, connect, serverFacts, withClusterOptions } from './connect.ts';
import { type MarketOptions, type ReadCluster, withMarketOptions } from './market.ts';
import { refusedReads } from './refused-reads.ts';
import {
  type FoundSettings,
  placeOf,
  readStated,
  type SettingsOptions,
  settingsOf,
} from './stack-settings.ts';
import { toldBackoffs } from './told-backoffs.ts';
import { issueText } from './unknown-names.ts';

/** Which cluster, and by which prices. */
export interface PricedClusterOptions extends ClusterOptions, MarketOptions {}

/** The command with options for {@link PricedClusterOptions}. */
export function withPricedClusterOptions(command: Command): Command {
  return withMarketOptions(withClusterOptions(command));
}

/** A cluster as it was read once, by the reader of the functions. */
export interface LiveCluster extends ReadCluster {
  /** Of the API server, as people know it. */
  readonly url: string;
  /** Of the kubeconfig's context. */
  readonly namespace: string;
  /** By the API server's clock, which Leases go by. */
  readonly client: KubeClient;
  /** For what is asked later. */
  readonly reader: ClusterReader;
  /** What the stack decides by, as far as the cluster says. */
  readonly settings: (options: SettingsOptions) => FoundSettings;
  /** Pods for which nothing is launched for now, by what their Events say. */
  readonly backoffs: () => Promise<ReadonlyMap<string, LaunchBackoff>>;
  /** Objects that cannot be read, a line each. */
  readonly unreadable: readonly string[];
  /** Milliseconds that reading took. */
  readonly readMs: number;
}

/** Why decisions would not be carried out now: Karpenter is active, or pauses. */
export function heldBackNotes(state: ClusterState, nowMs: number): readonly string[] {
  const paused = PAUSE_SCOPES.filter((scope) => isPaused(state.pausedUntilMs[scope], nowMs));
  return [
    ...(isKarpenterActive(state.karpenterRenewedAtMs, nowMs)
      ? ['Karpenter runs in this cluster: while it does, Joiner only reads']
      : []),
    ...paused.map((scope) => `${scope} is paused: nothing of it is done before joiner resume`),
  ];
}

/** What people should know, above the answer. */
export function noteLines(notes: readonly string[]): string {
  return notes.map((each) => `note: ${each}\n`).join('');
}

/** What can be done where the cluster could not be read. */
async function helped(client: KubeClient, error: unknown): Promise<never> {
  if (isKubeFault(error, 'notFound')) {
    const help = 'apply the definitions first (joiner crds | kubectl apply --server-side -f -)';
    throw new Error(`${error.message}: the cluster lacks a kind of Joiner's; ${help}`);
  }
  if (!isKubeFault(error, 'forbidden')) throw error;
  const refused = await refusedReads(client);
  const all = refused.length <= 1 ? '' : `; not allowed to list: ${refused.join(', ')}`;
  throw new Error(
    `${error.message}${all}; viewer-role.yaml of joiner export roles has every right that is needed`,
  );
}

/** Reads the kubeconfig's cluster for a command of that name, and lets it work with it. */
export async function withLiveCluster<Result>(
  name: string,
  options: ClusterOptions,
  work: (live: LiveCluster) => Promise<Result>,
): Promise<Result> {
  const { client, url, namespace } = await connect(name, options);
  try {
    const { nowMs } = await serverFacts(client);
    const aheadMs = nowMs - client.timing.nowMs();
    const timing = { ...client.timing, nowMs: () => client.timing.nowMs() + aheadMs };
    const asked = performance.now();
    const unreadable: string[] = [];
    const reader = clusterReader({
      client,
      decoders: kindDecoders('server'),
      onInvalid: (object, issues) => {
        const said = issues.map(issueText);
        unreadable.push(`${object} cannot be read: ${said.join('; ')}`);
      },
    });
    const state = await reader.read().catch((error: unknown) => helped(client, error));
    const readMs = performance.now() - asked;
    const stated = await readStated(client);
    const settings = (given: SettingsOptions) => settingsOf(stated, given);
    const place = placeOf(stated);
    const note = (line: string): void => void unreadable.push(line);
    const backoffs = () => toldBackoffs(client, state, nowMs, note);
    const told = { settings, place, backoffs, unreadable };
    return await work({
      url,
      namespace,
      client: client.withTiming(timing),
      state,
      reader,
      nowMs,
      ...told,
      readMs,
    });
  } finally {
    await client.close();
  }
}

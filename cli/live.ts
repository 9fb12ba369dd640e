import { type Command, Option } from 'commander';
import { REGIONS } from '../shared/catalog/catalog.ts';
import { apiDecoders } from '../shared/kube/api-decoders.ts';
import { clusterReader } from '../shared/kube/cluster-reader.ts';
import type { ClusterReader, ClusterState } from '../shared/ports.ts';
import { type ClusterOptions, connect, serverFacts, withClusterOptions } from './connect.ts';

/** Which cluster, and by the prices of which region. */
export interface PricedClusterOptions extends ClusterOptions {
  /** @default the cluster's */
  readonly region?: string;
}

/** The command with options for {@link PricedClusterOptions}. */
export function withPricedClusterOptions(command: Command): Command {
  return withClusterOptions(command).addOption(
    new Option('--region <region>', "of the embedded prices; default: the cluster's").choices([
      ...REGIONS,
    ]),
  );
}

/** A cluster as it was read once, by the reader of the functions. */
export interface LiveCluster {
  /** Of the API server, as people know it. */
  readonly url: string;
  readonly state: ClusterState;
  /** For what is asked later. */
  readonly reader: ClusterReader;
  /** The API server's clock. */
  readonly nowMs: number;
  /** Objects that cannot be read, a line each. */
  readonly unreadable: readonly string[];
  /** Milliseconds that reading took. */
  readonly readMs: number;
}

/** Reads the kubeconfig's cluster for a command of that name, and lets it work with it. */
export async function withLiveCluster<Result>(
  name: string,
  options: ClusterOptions,
  work: (live: LiveCluster) => Promise<Result>,
): Promise<Result> {
  const { client, url } = await connect(name, options);
  try {
    const { nowMs } = await serverFacts(client);
    const asked = performance.now();
    const unreadable: string[] = [];
    const reader = clusterReader({
      client,
      decoders: apiDecoders(),
      onInvalid: (object, issues) => {
        const said = issues.map(({ path, message }) => `${path} ${message}`.trim());
        unreadable.push(`${object} cannot be read: ${said.join('; ')}`);
      },
    });
    const state = await reader.read();
    const readMs = performance.now() - asked;
    return await work({ url, state, reader, nowMs, unreadable, readMs });
  } finally {
    await client.close();
  }
}

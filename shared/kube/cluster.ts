import type { ClusterReader, ClusterWriter } from '../ports/cluster.ts';
import { clusterReader, type ReaderOptions } from './cluster-reader.ts';
import { clusterWriter } from './cluster-writer.ts';
import { eventSink } from './events.ts';

/** The cluster behind the ports of the use cases; keep it as long as the sandbox lives. */
export function kubeCluster(options: ReaderOptions): ClusterReader & ClusterWriter {
  const { client, decoders } = options;
  return {
    ...clusterReader(options),
    ...clusterWriter({
      client,
      events: eventSink(client),
      decodeNodeClaim: (object) => {
        const decoded = decoders.NodeClaim(object);
        if (decoded.ok) return decoded.value;
        const issues = decoded.issues.map(({ path, message }) => `${path}: ${message}`);
        throw new Error(`the NodeClaim cannot be decoded: ${issues.join('; ')}`);
      },
    }),
  };
}

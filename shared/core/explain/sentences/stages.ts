import { HOSTNAME } from '../../model/labels.ts';
import type { Sentences } from '../parameters.ts';
import type { STAGES } from '../reasons/stages.ts';

function domainText(key: string): string {
  return key === HOSTNAME ? 'node' : key;
}

export const STAGES_SENTENCES: Sentences<typeof STAGES> = {
  'nodepool-deleting': () => 'the NodePool, which is being deleted',
  'nodepool-static': () => 'the NodePool, which is static',
  'nodepool-invalid': ({ fault }) => `the NodePool, which is invalid (${fault})`,
  'nodepool-not-ready': ({ condition }) => `the NodePool, which is not ready (${condition})`,
  'nodepool-without-types': () => 'the NodePool has no instance types',
  'nodepool-requirements': () => 'its requirements',
  'offerings-unavailable': () => 'its offerings, which are unavailable',
  'daemonset-requests': () => 'the requests of DaemonSets',
  'node-affinity': ({ key, values }) => `${key} ${values}`,
  'node-affinity-terms': ({ terms }) => `node affinity (none of ${terms} terms)`,
  'node-affinity-contradicts-itself': () => 'node affinity, which no node can meet',
  'taint-not-tolerated': ({ taints }) =>
    `its taint${taints.length === 1 ? '' : 's'} ${taints.join(' and ')}, ` +
    `which the pod does not tolerate`,
  'volume-zones': () => 'volume zones',
  'request-too-large': ({ resource, amount }) => `${resource} ${amount}`,
  'too-many-volumes': ({ volumes, driver }) => `${volumes} volumes of ${driver}`,
  'host-ports-of-daemonsets': () => 'host ports, which DaemonSets use',
  'limits-reached': ({ left }) => `NodePool limits (${left.join(' and ')} left)`,
  'limits-or-reservations-reached': () => 'NodePool limits and reservations',
  'topology-spread': ({ key }) => `spread by ${domainText(key)}`,
  'pod-affinity': ({ key }) => `pod affinity by ${domainText(key)}`,
  'pod-anti-affinity': ({ key }) => `pod anti-affinity by ${domainText(key)}`,
  'anti-affinity-of-others': () => 'anti-affinity of other pods',
  'min-values': () => 'minValues of the NodePool',
  'steps-used-up': ({ steps }) => `planning, which reached its maximum of ${steps} placement steps`,
  'room-beside-other-pods': () =>
    'pod affinity (no node has room for the pod and the selected pods)',
};

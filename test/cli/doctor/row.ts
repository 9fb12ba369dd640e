import type { Cluster, Facts, Kubernetes } from '../../../cli/doctor/facts.ts';
import type { Status } from '../../../cli/doctor/line.ts';
import { CLUSTER, HEALTHY, KUBERNETES, yes } from './healthy.ts';

/** One fact that differs from a healthy account and cluster, and what is said about it. */
export type Row = readonly [
  what: string,
  change: Partial<Facts>,
  check: string,
  status: Status,
  says: string,
];

export const cluster = (change: Partial<Cluster>): Partial<Facts> => ({
  cluster: yes({ ...CLUSTER, ...change }),
});
export const kubernetes = (change: Partial<Kubernetes>): Partial<Facts> => ({
  kubernetes: yes({ ...KUBERNETES, ...change }),
});
export const functions = HEALTHY.functions.ok ? HEALTHY.functions.value : [];
export const NOT_DEPLOYED: Partial<Facts> = { functions: yes([]) };
export const IN_VPC = yes(functions.map((each) => ({ ...each, subnetIds: ['subnet-a'] })));
export const asked = (change: Partial<Facts['asked']>): Facts['asked'] => ({
  ...HEALTHY.asked,
  ...change,
});

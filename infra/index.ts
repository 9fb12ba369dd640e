/** What the npm package exports for apps of the CDK: constructs, the stack, and their props. */
export type { FeatureGate, FunctionName } from '../shared/contract.ts';
export { ClustersDashboard, type ClustersDashboardProps } from './constructs/clusters-dashboard.ts';
export { Joiner } from './constructs/joiner.ts';
export type { JoinerCluster, JoinerProps } from './constructs/joiner-props.ts';
export { JoinerStack, type JoinerStackProps } from './joiner-stack.ts';

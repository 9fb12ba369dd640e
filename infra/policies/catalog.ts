import { discovery, memory } from './parts.ts';
import type { PolicyScope, Statement } from './statement.ts';

/** Reads types and prices; knows nothing of the cluster. */
export function catalogPolicy(scope: PolicyScope): readonly Statement[] {
  return [
    discovery(scope, 'Instance types, where they are offered, and spot prices.', [
      'DescribeInstanceTypes',
      'DescribeInstanceTypeOfferings',
      'DescribeSpotPriceHistory',
    ]),
    {
      sid: 'Prices',
      why: 'On-demand prices; the service has an endpoint in few regions and knows no resources.',
      actions: ['pricing:GetProducts'],
      resources: ['*'],
    },
    ...memory(scope, 'shared'),
  ];
}

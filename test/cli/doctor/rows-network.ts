import type { Facts } from '../../../cli/doctor/facts.ts';
import { CLASS, HEALTHY, unknown, yes } from './healthy.ts';
import { asked, IN_VPC, type Row } from './row.ts';

const silent = (service: keyof Facts['reach']): Facts['reach'] => ({
  ...HEALTHY.reach,
  [service]: unknown('no answer within 5 s'),
});
const network = (
  endpoints: readonly (readonly [service: string, hasPrivateDns: boolean])[],
  routedSubnetIds: readonly string[],
): Partial<Facts> => ({
  functions: IN_VPC,
  network: yes({
    subnetIds: ['subnet-a', 'subnet-b'],
    endpoints: endpoints.map(([service, hasPrivateDns]) => ({ service, hasPrivateDns })),
    routedSubnetIds,
  }),
});

export const NETWORK_ROWS: readonly Row[] = [
  ['an answer', {}, 'reach ssm', 'OK', 'answers'],
  ['no answer here', { reach: silent('ssm') }, 'reach ssm', 'WARN', '--inside'],
  [
    'no answer inside',
    { reach: silent('ec2'), asked: asked({ isInside: true }) },
    'reach ec2',
    'FAIL',
    'no launches and no terminations',
  ],
  [
    'no answer inside of what is not needed there',
    { reach: silent('pricing'), asked: asked({ isInside: true }) },
    'reach pricing',
    'OK',
    'outside of the VPC',
  ],
  [
    'no IAM inside',
    { reach: silent('iam'), asked: asked({ isInside: true }) },
    'reach iam',
    'FAIL',
    'isolatedVpc=true',
  ],
  ['an endpoint', network([['ec2', true]], []), 'way to ec2', 'OK', 'an endpoint'],
  ['no way at all', network([], []), 'way to ec2', 'FAIL', 'no route out of subnet-a, subnet-b'],
  ['a route of one subnet', network([], ['subnet-a']), 'way to eks', 'FAIL', 'out of subnet-b'],
  ['a route of both', network([], ['subnet-a', 'subnet-b']), 'way to iam', 'OK', 'a route out'],
  ['no private DNS', network([['ec2', false]], []), 'way to ec2', 'FAIL', 'no private DNS'],
  ['no wake-ups', network([], []), 'way to events', 'WARN', 'within a minute'],
  [
    'subnets that are not tagged',
    { classes: [{ ...CLASS, subnets: yes([]) }] },
    'subnets',
    'FAIL',
    'none found by [{"tags":{"team":"web"}}]',
  ],
  [
    'subnets that are full',
    { classes: [{ ...CLASS, subnets: yes([{ id: 's', zone: 'a', freeAddresses: 0 }]) }] },
    'subnets',
    'FAIL',
    '0 free addresses',
  ],
  [
    'subnets that are nearly full',
    { classes: [{ ...CLASS, subnets: yes([{ id: 's', zone: 'a', freeAddresses: 63 }]) }] },
    'subnets',
    'WARN',
    '63 free addresses',
  ],
  [
    'subnets of one zone',
    { classes: [{ ...CLASS, subnets: yes([{ id: 's', zone: 'a', freeAddresses: 64 }]) }] },
    'subnets',
    'WARN',
    'more zones',
  ],
  ['good subnets', {}, 'subnets', 'OK', '2 in 2 zones with 8000 free addresses'],
  [
    'no security group',
    { classes: [{ ...CLASS, securityGroups: yes([]) }] },
    'security groups',
    'FAIL',
    'none found',
  ],
  ['a security group', {}, 'security groups', 'OK', ': 1'],
];

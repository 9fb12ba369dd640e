import { aClass, CLASS, unknown, yes } from './healthy.ts';
import { asked, cluster, IN_VPC, NOT_DEPLOYED, type Row } from './row.ts';

const WINDOWS_CLASS = {
  ...CLASS,
  nodeClass: aClass({ amiSelectorTerms: [{ alias: 'windows2022@latest' }] }),
};

export const CLUSTER_ROWS: readonly Row[] = [
  [
    'GovCloud',
    { asked: asked({ region: 'us-gov-west-1' }) },
    'region',
    'FAIL',
    'neither prices nor a catalog',
  ],
  [
    'a region that is misspelt',
    { asked: asked({ region: 'eu-wst-1' }) },
    'region',
    'WARN',
    'eu-wst-1 is in no list',
  ],
  [
    'no credentials',
    { caller: unknown('expired'), cluster: unknown('expired') },
    'credentials',
    'FAIL',
    'AWS_PROFILE',
  ],
  ['no way to STS', { caller: unknown('no answer') }, 'credentials', 'WARN', 'taken by EKS'],
  ['credentials', {}, 'credentials', 'OK', 'user/engineer in account 111122223333'],
  ['no cluster', { cluster: yes(undefined) }, 'cluster', 'FAIL', 'there is no EKS cluster demo'],
  ['no right to see it', { cluster: unknown('denied') }, 'cluster', 'FAIL', 'eks:DescribeCluster'],
  ['one being made', cluster({ status: 'CREATING' }), 'cluster', 'FAIL', 'wait until'],
  ['one being updated', cluster({ status: 'UPDATING' }), 'cluster', 'OK', 'UPDATING'],
  ['an old version', cluster({ version: '1.28' }), 'version', 'WARN', 'older than 1.29'],
  ['the oldest version', cluster({ version: '1.29' }), 'version', 'OK', '1.29'],
  [
    'aws-auth alone',
    cluster({ authenticationMode: 'CONFIG_MAP' }),
    'authentication',
    'FAIL',
    'aws eks update-cluster-config --name demo --region eu-west-1 ' +
      '--access-config authenticationMode=API_AND_CONFIG_MAP',
  ],
  ['entries alone', cluster({ authenticationMode: 'API' }), 'authentication', 'OK', 'API'],
  [
    'a public endpoint with few guests',
    cluster({ publicCidrs: ['198.51.100.0/24'] }),
    'endpoint',
    'FAIL',
    '-c endpoint=private -c subnets=subnet-a,subnet-b -c securityGroups=sg-cluster',
  ],
  [
    'a private endpoint before the deployment',
    { ...NOT_DEPLOYED, ...cluster({ isPublic: false }) },
    'endpoint',
    'WARN',
    '-c endpoint=private',
  ],
  [
    'a private endpoint and functions outside',
    cluster({ isPublic: false }),
    'endpoint',
    'FAIL',
    'outside of the VPC',
  ],
  [
    'functions inside and a public endpoint alone',
    { ...cluster({ isPrivate: false }), functions: IN_VPC },
    'endpoint',
    'FAIL',
    'no private endpoint',
  ],
  ['functions inside', { functions: IN_VPC }, 'endpoint', 'OK', 'in the VPC'],
  ['auto mode', cluster({ isAutoMode: true }), 'auto mode', 'WARN', 'nodeClassRef'],
  ['a node role with an entry', {}, 'node role', 'OK', 'EksNodes of default'],
  [
    'a node role without one, before the deployment',
    { ...NOT_DEPLOYED, accessEntries: yes([]) },
    'node role',
    'FAIL',
    '-c nodeRole=arn:aws:iam::111122223333:role/EksNodes -c nodeRoleEntry=true',
  ],
  [
    'a node role without one, beside that of the stack',
    { accessEntries: yes([]) },
    'node role',
    'FAIL',
    'deploy with -c nodeRoles=arn:aws:iam::111122223333:role/EksNodes; roles that nodeRoles has',
  ],
  [
    'a node role with a path and without an entry',
    {
      accessEntries: yes([]),
      classes: [{ ...CLASS, roleArn: yes('arn:aws:iam::111122223333:role/team/EksNodes') }],
    },
    'node role',
    'FAIL',
    'deploy with -c nodeRoles=arn:aws:iam::111122223333:role/team/EksNodes; roles that',
  ],
  [
    'a node role without one in China, of which IAM does not tell',
    {
      asked: asked({ region: 'cn-north-1' }),
      accessEntries: yes([]),
      classes: [{ ...CLASS, roleArn: unknown('not allowed') }],
    },
    'node role',
    'FAIL',
    '-c nodeRoles=arn:aws-cn:iam::111122223333:role/EksNodes',
  ],
  [
    'a node role whose entry is of a person',
    {
      accessEntries: yes([
        { principalArn: 'arn:aws:iam::111122223333:role/EksNodes', type: 'STANDARD' },
      ]),
    },
    'node role',
    'FAIL',
    'EC2_LINUX',
  ],
  [
    'a Windows class',
    {
      accessEntries: yes([]),
      classes: [WINDOWS_CLASS],
    },
    'node role',
    'FAIL',
    'EC2_WINDOWS',
  ],
  [
    'a node role whose entry is for nodes of Auto Mode',
    {
      accessEntries: yes([
        { principalArn: 'arn:aws:iam::111122223333:role/EksNodes', type: 'EC2' },
      ]),
    },
    'node role',
    'FAIL',
    'no access entry of type EC2_LINUX, but one of type EC2: nodes cannot join',
  ],
  [
    'a Windows class whose role is that of Linux nodes',
    { classes: [WINDOWS_CLASS] },
    'node role',
    'FAIL',
    '-c windowsNodes=true, and name its role in spec.role: JoinerNode-eu-west-1-demo-windows',
  ],
  [
    "the stack's role for Windows before the deployment",
    {
      ...NOT_DEPLOYED,
      accessEntries: yes([]),
      classes: [{ ...WINDOWS_CLASS, role: yes('JoinerNode-eu-west-1-demo-windows') }],
    },
    'node role',
    'OK',
    'comes with the stack',
  ],
  [
    "the stack's role before the deployment",
    {
      ...NOT_DEPLOYED,
      accessEntries: yes([]),
      classes: [{ ...CLASS, role: yes('JoinerNode-eu-west-1-demo') }],
    },
    'node role',
    'OK',
    'comes with the stack',
  ],
  [
    "the stack's role without its entry",
    { accessEntries: yes([]), classes: [{ ...CLASS, role: yes('JoinerNode-eu-west-1-demo') }] },
    'node role',
    'FAIL',
    'aws eks create-access-entry --cluster-name demo --region eu-west-1 --principal-arn arn:aws:',
  ],
  [
    'a role in a profile that nobody may read',
    { classes: [{ ...CLASS, role: unknown('AccessDenied') }] },
    'node role',
    'WARN',
    'ask somebody who may read it',
  ],
];

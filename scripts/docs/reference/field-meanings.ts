/** What each field of our kinds means, by its path; parts that several kinds have are shared. */

export type Meanings = Readonly<Record<string, string>>;

const requirements = (path: string): Meanings => ({
  [path]: 'label rules that nodes fulfil; all of them hold',
  [`${path}[].key`]: 'the label',
  [`${path}[].operator`]:
    '`In` and `NotIn` take values, `Exists` and `DoesNotExist` none, the others one number',
  [`${path}[].values`]: 'the values',
});

const minValues = (path: string): Meanings => ({
  [`${path}[].minValues`]: 'the least number of values of the label that a NodeClaim has to allow',
});

const taints = (path: string, meaning: string): Meanings => ({
  [path]: meaning,
  [`${path}[].key`]: 'the key of the taint',
  [`${path}[].value`]: 'its value',
  [`${path}[].effect`]: 'its effect',
  [`${path}[].timeAdded`]: 'set by Kubernetes',
});

const nodeClassRef = (path: string): Meanings => ({
  [path]: 'the EC2NodeClass from which nodes are made',
  [`${path}.group`]: '`karpenter.k8s.aws`. Joiner ignores objects with another group',
  [`${path}.kind`]: '`EC2NodeClass`',
  [`${path}.name`]: 'its name',
});

const conditions: Meanings = {
  'status.conditions': 'see [Conditions](conditions.md)',
};

const TERMINATION =
  'the maximum time of a drain. After this time its pods are deleted and the instance is terminated, even if something blocks the drain';
const EXPIRE = 'the age at which a node is drained and terminated; `Never` for no limit';

export const NODE_POOL: Meanings = {
  'spec.template': 'what its NodeClaims and nodes are like',
  'spec.template.metadata': 'their labels and annotations',
  'spec.template.metadata.labels': 'labels of nodes; NodeOverlays may match them too',
  'spec.template.metadata.annotations': 'annotations of NodeClaims and nodes',
  'spec.template.spec': 'the rules for nodes',
  ...requirements('spec.template.spec.requirements'),
  ...minValues('spec.template.spec.requirements'),
  ...taints('spec.template.spec.taints', 'taints of nodes; pods have to tolerate them'),
  ...taints(
    'spec.template.spec.startupTaints',
    'taints that another component removes when the node is set up; pods need not tolerate them',
  ),
  ...nodeClassRef('spec.template.spec.nodeClassRef'),
  'spec.template.spec.terminationGracePeriod': TERMINATION,
  'spec.template.spec.expireAfter': EXPIRE,
  'spec.disruption': 'when nodes may be disrupted',
  'spec.disruption.consolidateAfter':
    'the time after the last pod was added or removed before the node may be consolidated; `Never` for never',
  'spec.disruption.consolidationPolicy':
    '`WhenEmpty` deletes empty nodes only. `WhenEmptyOrUnderutilized` also moves pods. `Balanced` moves pods where the saving outweighs the disruption by [Karpenter’s score](../concepts/consolidation.md#balanced)',
  'spec.disruption.budgets':
    'how many nodes may be disrupted at once; if several are active, the smallest number applies',
  'spec.disruption.budgets[].nodes':
    'a number of nodes, or a share of the pool’s nodes, rounded up',
  'spec.disruption.budgets[].schedule':
    'when the budget begins to be active: five cron fields or `@daily` and the like, in UTC. Without it the budget is always active',
  'spec.disruption.budgets[].duration': 'how long it stays active after each beginning',
  'spec.disruption.budgets[].reasons': 'the reasons that it limits; without it all but `Unhealthy`',
  'spec.limits':
    'the most of each resource that all nodes of the pool may have together; `nodes` limits their number',
  'spec.weight': 'NodePools with a higher weight are tried first',
  'spec.replicas':
    'makes the pool static: this number of nodes is kept, with or without pods. It cannot be added or removed later',
  ...conditions,
  'status.nodeClassObservedGeneration':
    'the generation of the EC2NodeClass that the conditions are about',
  'status.nodes': 'how many nodes the pool has',
  'status.resources': 'what its nodes have together; limits are compared with it',
};

export const NODE_CLAIM: Meanings = {
  ...requirements('spec.requirements'),
  ...minValues('spec.requirements'),
  'spec.resources': 'what the planned pods need',
  'spec.resources.requests': 'their requests together, DaemonSets included',
  ...taints('spec.taints', 'taints of the node'),
  ...taints('spec.startupTaints', 'taints that something else removes when the node is set up'),
  ...nodeClassRef('spec.nodeClassRef'),
  'spec.terminationGracePeriod': TERMINATION,
  'spec.expireAfter': EXPIRE,
  'status.nodeName': 'the node, once it has registered',
  'status.providerID': 'the instance, as `aws:///ZONE/INSTANCE`',
  'status.imageID': 'the AMI that it was launched from',
  'status.capacity': 'what the instance has',
  'status.allocatable': 'what of it pods may use',
  'status.lastPodEventTime': 'when a pod was last added to the node or removed from it',
  ...conditions,
};

export const NODE_OVERLAY: Meanings = {
  ...requirements('spec.requirements'),
  'spec.price': 'the price of matching offerings in USD an hour (in China in yuan)',
  'spec.priceAdjustment': 'a change of the price: `+0.05`, `-0.05`, `+10%` or `-10%`',
  'spec.capacity':
    'resources that matching instance types have besides their own: extended resources and hugepages',
  'spec.weight':
    'of several NodeOverlays that set the same value, the one with the highest weight wins',
  ...conditions,
};

const tagsOf = (path: string, what: string): Meanings => ({
  [`${path}[].tags`]: `${what} with all of these tags; \`*\` stands for any value`,
  [`${path}[].id`]: 'the one with this id',
});

export const EC2_NODE_CLASS: Meanings = {
  'spec.subnetSelectorTerms': 'subnets for instances: those that match any term',
  ...tagsOf('spec.subnetSelectorTerms', 'subnets'),
  'spec.securityGroupSelectorTerms': 'security groups of instances: those that match any term',
  ...tagsOf('spec.securityGroupSelectorTerms', 'groups'),
  'spec.securityGroupSelectorTerms[].name': 'the one of this name (not the tag `Name`)',
  'spec.capacityReservationSelectorTerms':
    'reservations that may be used: those that match any term',
  ...tagsOf('spec.capacityReservationSelectorTerms', 'reservations'),
  'spec.capacityReservationSelectorTerms[].instanceMatchCriteria': 'those with this criteria',
  'spec.capacityReservationSelectorTerms[].ownerID': 'those of this account',
  'spec.placementGroupSelector':
    'placement groups, which are [not supported](../compatibility.md#not-supported)',
  'spec.placementGroupSelector.name': 'its name',
  'spec.placementGroupSelector.id': 'its id',
  'spec.associatePublicIPAddress':
    'whether instances get a public address; without it the subnet decides',
  'spec.ipPrefixCount': 'how many prefixes the first network interface gets at launch',
  'spec.amiSelectorTerms': 'images for instances: those that match any term, the newest first',
  'spec.amiSelectorTerms[].alias':
    'EKS’s image of a family and version, such as `al2023@v20260101` or `bottlerocket@latest`. It stands alone',
  ...tagsOf('spec.amiSelectorTerms', 'images'),
  'spec.amiSelectorTerms[].name': 'images of this name; `*` stands for anything',
  'spec.amiSelectorTerms[].owner': 'images of this account, or `self`, `amazon`',
  'spec.amiSelectorTerms[].ssmParameter':
    'the image in this SSM parameter; your own have to be in the setting `imageParameters`',
  'spec.amiFamily': 'the bootstrap method of the node. An alias sets it',
  'spec.userData':
    'your part of the user data; it is merged with the bootstrap part ([by family](../tasks/user-data.md))',
  'spec.role':
    'the role of nodes, by its name, not its ARN: the last part of the stack’s output `NodeRoleArn`, or of one of `nodeRoles`',
  'spec.instanceProfile': 'an instance profile of your own, in the place of `role`',
  'spec.tags': 'tags of instances, volumes, network interfaces and launch templates',
  'spec.kubelet':
    'settings of the kubelet: `maxPods`, `podsPerCore`, `systemReserved`, `kubeReserved`, `evictionHard`, `evictionSoft`, `evictionSoftGracePeriod`, `evictionMaxPodGracePeriod`, `imageGCHighThresholdPercent`, `imageGCLowThresholdPercent`, `cpuCFSQuota`, `clusterDNS` and those of Karpenter 1.15',
  'spec.blockDeviceMappings': 'volumes of instances; without it the family’s own',
  'spec.blockDeviceMappings[].deviceName': 'such as `/dev/xvda`',
  'spec.blockDeviceMappings[].ebs': 'the volume',
  'spec.blockDeviceMappings[].ebs.deleteOnTermination': 'whether it is deleted with the instance',
  'spec.blockDeviceMappings[].ebs.encrypted': 'whether it is encrypted',
  'spec.blockDeviceMappings[].ebs.iops': 'its IOPS',
  'spec.blockDeviceMappings[].ebs.kmsKeyID':
    'its key; the key’s policy has to allow [what the deployment page says](../deploy.md#volumes-with-a-customer-managed-key)',
  'spec.blockDeviceMappings[].ebs.snapshotID': 'the snapshot that it is made from',
  'spec.blockDeviceMappings[].ebs.throughput': 'its throughput in MiB a second',
  'spec.blockDeviceMappings[].ebs.volumeInitializationRate':
    'how fast it is filled from the snapshot, in MiB a second',
  'spec.blockDeviceMappings[].ebs.volumeSize': 'its size',
  'spec.blockDeviceMappings[].ebs.volumeType': 'its type',
  'spec.blockDeviceMappings[].rootVolume':
    'whether it is the kubelet’s volume, whose size is the node’s ephemeral storage',
  'spec.instanceStorePolicy': '`RAID0`: local disks become one volume for pods and images',
  'spec.networkInterfaces': 'network interfaces of instances, for EFA and several network cards',
  'spec.networkInterfaces[].networkCardIndex': 'the network card',
  'spec.networkInterfaces[].deviceIndex': 'the device on it',
  'spec.networkInterfaces[].interfaceType': '`interface`, or `efa-only` without an IP address',
  'spec.detailedMonitoring': 'whether EC2 sends metrics each minute',
  'spec.metadataOptions': 'access to the instance metadata',
  'spec.metadataOptions.httpEndpoint': 'whether it can be reached',
  'spec.metadataOptions.httpProtocolIPv6': 'whether over IPv6',
  'spec.metadataOptions.httpPutResponseHopLimit':
    'the hop limit; 2 lets pods without host network reach it',
  'spec.metadataOptions.httpTokens': '`required`: IMDSv2 only',
  'spec.connectionTracking': 'idle times of tracked connections',
  'spec.connectionTracking.tcpEstablishedTimeout': 'of established TCP connections, in seconds',
  'spec.connectionTracking.udpStreamTimeout': 'of UDP streams, in seconds',
  'spec.connectionTracking.udpTimeout': 'of other UDP flows, in seconds',
  'spec.enclaveOptions':
    'Nitro Enclaves, which are [not supported](../compatibility.md#not-supported)',
  'spec.enclaveOptions.enabled':
    '`true` sets the condition `ValidationSucceeded` to False with the reason `Unsupported`',
  'spec.context': 'the context of the fleet request',
  'spec.cpuOptions': 'options of the CPU',
  'spec.cpuOptions.nestedVirtualization': 'whether instances may run virtual machines',
  'status.subnets': 'the subnets that match',
  'status.securityGroups': 'the security groups that match',
  'status.capacityReservations': 'the reservations that match',
  'status.amis': 'the images that match, each with what instance types it is for',
  'status.instanceProfile': 'the instance profile in use',
  ...conditions,
};

export const CAPACITY_BUFFER: Meanings = {
  'spec.provisioningStrategy': 'active capacity: nodes that run',
  'spec.podTemplateRef': 'a PodTemplate of the namespace: the pod template of a replica',
  'spec.podTemplateRef.name': 'its name',
  'spec.scalableRef':
    'a Deployment, StatefulSet or ReplicaSet whose pod template the replicas have',
  'spec.scalableRef.apiGroup': 'such as `apps`',
  'spec.scalableRef.kind': 'such as `Deployment`',
  'spec.scalableRef.name': 'its name',
  'spec.replicas': 'how many replicas are kept',
  'spec.percentage': 'how many replicas are kept, in percent of the replicas of `scalableRef`',
  'spec.limits': 'the maximum that all replicas may request together',
  'status.podTemplateRef': 'the PodTemplate in use',
  'status.replicas': 'how many replicas are kept now',
  'status.podTemplateGeneration': 'the generation of the PodTemplate in use',
  'status.provisioningStrategy': 'the strategy in use',
  ...conditions,
};

/** One valid object of each kind; tables of bad input change one line of them. */

export const NODE_CLASS = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  role: node-role
  amiSelectorTerms:
    - alias: al2023@latest
  subnetSelectorTerms:
    - tags:
        team: web
  securityGroupSelectorTerms:
    - tags:
        team: web
  tags:
    team: web
  kubelet:
    maxPods: 110
  blockDeviceMappings:
    - deviceName: /dev/xvda
      ebs:
        volumeSize: 100Gi
  metadataOptions:
    httpTokens: required
`;

export const NODE_POOL = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: general
spec:
  weight: 10
  limits:
    cpu: "1000"
  disruption:
    consolidationPolicy: WhenEmpty
    consolidateAfter: 1m
    budgets:
      - nodes: 20%
        schedule: "0 9 * * mon-fri"
        duration: 8h
        reasons: [Drifted]
  template:
    metadata:
      labels:
        team: web
    spec:
      expireAfter: 720h
      taints:
        - key: team
          value: web
          effect: NoSchedule
      requirements:
        - key: karpenter.k8s.aws/instance-family
          operator: In
          values: [m6i, m7i]
          minValues: 2
        - key: karpenter.k8s.aws/instance-cpu
          operator: Gt
          values: ["1"]
      nodeClassRef:
        group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: default
`;

export const NODE_OVERLAY = `apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata:
  name: dearer
spec:
  weight: 10
  requirements:
    - key: node.kubernetes.io/instance-type
      operator: In
      values: [m6i.large]
    - key: karpenter.k8s.aws/instance-cpu
      operator: Gt
      values: ["1"]
  priceAdjustment: "+10%"
  capacity:
    example.com/slice: "4"
`;

export const CAPACITY_BUFFER = `apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata:
  name: spare
spec:
  scalableRef:
    kind: Deployment
    name: web
  replicas: 2
`;

export const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      tolerations:
        - key: team
          operator: Equal
          value: web
      topologySpreadConstraints:
        - topologyKey: topology.kubernetes.io/zone
          maxSkew: 1
          whenUnsatisfiable: DoNotSchedule
          labelSelector:
            matchLabels:
              app: web
      containers:
        - name: web
          image: example.com/web
          ports:
            - containerPort: 80
              hostPort: 8080
          resources:
            requests:
              cpu: "1"
              memory: 1Gi
`;

export const POD = `apiVersion: v1
kind: Pod
metadata:
  name: single
spec:
  containers:
    - name: single
      resources:
        requests:
          cpu: 500m
`;

export const DISRUPTION_BUDGET = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      app: web
`;

export const PRIORITY_CLASS = `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: urgent
value: 1000
`;

export const STORAGE_CLASS = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: fast
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
`;

/** A scheduling problem with nothing wrong. */
export function aCase(): Record<string, unknown> {
  return {
    name: 'one-pod',
    options: { truncateTo: 60 },
    instanceTypes: [
      {
        name: 'm6i.large',
        capacity: { cpu: '2', memory: '8Gi', pods: '29' },
        requirements: { 'kubernetes.io/arch': ['amd64'], 'kubernetes.io/os': ['linux'] },
        offerings: [{ zone: 'us-east-1a', capacityType: 'on-demand', price: 0.096 }],
      },
    ],
    nodePools: [
      {
        metadata: { name: 'general' },
        spec: {
          template: {
            spec: {
              requirements: [],
              nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
            },
          },
        },
      },
    ],
    nodeOverlays: [],
    pods: [
      {
        metadata: { name: 'web' },
        spec: { containers: [{ resources: { requests: { cpu: '1' } } }] },
      },
    ],
  };
}

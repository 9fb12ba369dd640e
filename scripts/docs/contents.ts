/** The contents of the documentation: the site's sidebar, docs/README.md and llms.txt come from it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { headingOf, root } from './repository.ts';

export interface Entry {
  /** The path in the repository. */
  readonly file: string;
  /** The name in the sidebar. */
  readonly title: string;
  /** One line of what the page answers; a record of a decision or a measurement has none. */
  readonly says?: string;
}

export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
  /** Folded in the sidebar until somebody asks for it. */
  readonly isFolded?: boolean;
}

const page = (file: string, title: string, says: string): Entry => ({ file, title, says });
const doc = (name: string, title: string, says: string): Entry =>
  page(`docs/${name}.md`, title, says);

const START: readonly Entry[] = [
  page('README.md', 'Overview', 'what Joiner is, in one page'),
  doc('start/what-and-why', 'What and why', 'what it does, what it costs, when not to use it'),
  doc('start/install', 'Install', 'the package, a folder for deployments, what a release has'),
  doc('start/quick-start', 'Quick start', 'ten minutes in a simulated cluster, without an account'),
  doc('start/first-cluster', 'The first real cluster', 'deploy, a NodePool, a first node'),
  doc('first-account', 'The first account', 'a check of a sandbox account, step by step'),
  page('examples/README.md', 'Examples', 'manifests to run, each with its test'),
];

const CONCEPTS: readonly Entry[] = [
  doc('concepts/karpenter', 'For people who know Karpenter', 'what is the same, what differs'),
  doc('concepts/packing', 'Packing and its bound', 'how nodes are chosen, and how good plans are'),
  doc('concepts/consolidation', 'Consolidation and pay-back', 'when pods are moved, and when not'),
  doc('concepts/claims', 'The life of a claim', 'from pending pod to terminated instance'),
  doc('concepts/overlays', 'Overlays', 'other prices and resources for instance types'),
  doc('glossary', 'Glossary', 'every term in one sentence'),
];

const TASKS: readonly Entry[] = [
  doc('tasks/spot', 'Spot and diversification', 'use spot, survive interruptions'),
  doc('tasks/gpus', 'GPUs, slices and MIG', 'GPU NodePools, time-slicing, MIG profiles'),
  doc('tasks/zonal-spread', 'Zonal spread', 'keep pods apart; volumes; a zone that fails'),
  doc('tasks/static-pools', 'Static NodePools', 'a fixed number of nodes'),
  doc('tasks/headroom', 'Headroom', 'CapacityBuffers and other spare capacity'),
  doc('tasks/budgets', 'Budgets and windows', 'how many nodes, and when; do-not-disrupt'),
  doc(
    'tasks/limit-groups',
    'Caps over NodePools',
    'nodes, cpu, memory and $/h together, by the clock',
  ),
  doc('tasks/reservations', 'Reservations, Savings Plans', 'ODCRs, Capacity Blocks, discounts'),
  doc('tasks/amis', 'Upgrading AMIs and Kubernetes', 'pin, roll with a canary, undo'),
  doc('tasks/user-data', 'User data and the kubelet', 'by image family, kubelet settings'),
  doc('tasks/windows', 'Windows nodes', 'role, NodePool, taint, and what a licence costs'),
  doc('tasks/node-repair', 'Node repair', 'conditions, times, the monitoring agent'),
  doc('tasks/nights', 'Nights and weekends', 'scale to zero, and back in the morning'),
  doc('tasks/pausing', 'Pausing', 'stop launches, disruptions or terminations'),
  doc('tasks/cost-reports', 'Cost reports', 'by NodePool, team and namespace'),
  doc(
    'tasks/savings',
    'What it saved',
    'a ledger of launches and moves; back-tests of settings; advice',
  ),
  doc('node-price', 'How many nodes', 'fewer and larger, or more and cheaper'),
  doc('plan', 'Plans and approvals', 'preview, explain, approve; top and budgets'),
  doc('private-clusters', 'Private clusters', 'functions in the VPC, endpoints'),
  doc('tasks/ci', 'Checks in CI', '--strict, exit codes, an example'),
  doc('tasks/completion', 'Completion and kubectl', 'bash, zsh, fish, PowerShell, kubectl, Krew'),
  doc('tasks/headlamp', 'Headlamp', 'prices, decisions and obstacles in the web UI'),
  doc('tasks/prometheus', 'Prometheus', 'remote write, Karpenter’s metrics and dashboards'),
  doc('tasks/decision-events', 'Decision events', 'EventBridge, Slack and SNS, metric filters'),
  doc('tasks/assistants', 'Assistants', 'joiner mcp: read-only tools for assistants'),
  doc('tasks/several-clusters', 'Several clusters', 'one stack each, one bucket, one dashboard'),
];

const TROUBLESHOOTING: readonly Entry[] = [
  doc('troubleshooting/README', 'By symptom', 'where to begin'),
  doc('troubleshooting/pending-pods', 'Pending pods', 'each stage of a refusal, with its remedy'),
  doc('troubleshooting/launches', 'Launches that fail', 'codes of EC2, classes that are not ready'),
  doc(
    'troubleshooting/nodes-do-not-join',
    'Nodes that do not join',
    'from instance to Initialized',
  ),
  doc('troubleshooting/pods-on-nodes', 'Pods on new nodes', 'addresses, GPUs, volumes, memory'),
  doc('troubleshooting/nodes-stay', 'Nodes that stay', 'what holds a node or a drain'),
  doc('troubleshooting/nodes-go', 'Nodes that go', 'why a node went; nodes that come and go'),
  doc('troubleshooting/deployment', 'Deployment', 'a stack that fails, or does nothing'),
  doc('troubleshooting/manifests', 'Manifests that are rejected', 'messages of the schemas'),
];

const MIGRATE: readonly Entry[] = [
  doc('migrate/karpenter', 'From Karpenter', 'side by side, switch, and back'),
  doc('adopt', 'Adopt and hand back', 'joiner adopt, joiner hand-back: every check and step'),
  doc('convert', 'Convert to v1', 'older Karpenter manifests and node groups: joiner convert'),
  doc('migrate/cluster-autoscaler', 'From Cluster Autoscaler', 'node groups as NodePools'),
  doc('migrate/auto-mode', 'From EKS Auto Mode', 'what changes, and the steps'),
  doc('compatibility', 'Compatibility', 'every difference from Karpenter'),
  doc('compare', 'Comparing with Karpenter', 'joiner compare, and how close it is'),
];

const OPERATE: readonly Entry[] = [
  doc('deploy', 'Deploy', 'settings, keys, CloudFormation, Terraform, GitOps, uninstall'),
  doc('operate/upgrade', 'Upgrade, roll back, uninstall', 'the order of steps'),
  doc('operate/backup', 'Back up and restore', 'where state is, and what a loss costs'),
  doc('operate/alarms', 'Alarms and runbooks', 'notifications, and what to do'),
  doc(
    'operate/dashboards',
    'Dashboards and alerts',
    'the dashboard in a picture, Grafana, Karpenter’s metrics',
  ),
  doc('operate/scale', 'Limits at scale', 'what is measured and bounded'),
  doc('performance', 'Performance', 'how soon it reacts, and how that was measured'),
  doc('cost', 'What Joiner costs', 'by part and cluster size'),
];

const SECURITY: readonly Entry[] = [
  page('SECURITY.md', 'Security', 'reporting, and who could do what'),
  doc('permissions', 'Permissions', 'every statement of every role, with its reason'),
  doc('security/hardening', 'Hardening', 'a checklist for operators'),
];

const REFERENCE: readonly Entry[] = [
  doc('reference/commands', 'Commands', 'every command and option'),
  doc('reference/settings', 'Settings', 'every prop of the construct'),
  doc('reference/nodepool', 'NodePool', 'every field'),
  doc('reference/ec2nodeclass', 'EC2NodeClass', 'every field'),
  doc('reference/nodeclaim', 'NodeClaim', 'every field'),
  doc('reference/nodeoverlay', 'NodeOverlay', 'every field'),
  doc('reference/capacitybuffer', 'CapacityBuffer', 'every field'),
  doc('reference/labels', 'Labels', 'what may be required'),
  doc('annotations', 'Annotations', 'what Joiner writes under its own name'),
  doc('reference/conditions', 'Conditions', 'every condition and reason'),
  doc('reference/events', 'Events', 'every event'),
  doc('reasons', 'Reasons', 'every reason of a decision, and what to do'),
  doc('reference/metrics', 'Metrics', 'every metric'),
  doc('reference/alarms', 'Alarms', 'thresholds'),
  doc('reference/rbac', 'RBAC', 'rights in the cluster'),
  doc('reference/schemas', 'JSON schemas', 'for editors and checks'),
  doc('manifests', 'Manifests', 'what simulate, compare and plan read'),
  doc('scenarios', 'Scenarios', 'what happens in a simulated cluster'),
  doc('case', 'Cases', 'the format of joiner solve'),
  doc('replay', 'Recordings', 'repeat a decision of the past'),
  doc('page', 'HTML pages', 'results as a page'),
  doc('catalog', 'The EC2 catalog', 'types and prices without an account'),
  doc('package', 'The npm package', 'what it contains'),
];

const PROJECT: readonly Entry[] = [
  page('ARCHITECTURE.md', 'Architecture', 'how the code is divided, and the journey of a pod'),
  page('CONTRIBUTING.md', 'Contributing', 'tests, rules, releases'),
  page('CHANGELOG.md', 'Changelog', 'what each version brought'),
];

/** Pages of a folder by name, under their headings. */
function folder(path: string): readonly Entry[] {
  return readdirSync(join(root, path))
    .filter((name) => name.endsWith('.md'))
    .toSorted()
    .map((name) => ({ file: `${path}/${name}`, title: headingOf(`${path}/${name}`) }));
}

/** The README of each example. */
function examples(): readonly Entry[] {
  return readdirSync(join(root, 'examples'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `examples/${name}/README.md`)
    .toSorted()
    .map((file) => ({ file, title: headingOf(file) }));
}

/** Every page is in one section, but docs/README.md, which is made of them. */
export function contents(): readonly Section[] {
  return [
    { title: 'Start', entries: START },
    { title: 'Concepts', entries: CONCEPTS },
    { title: 'Tasks', entries: TASKS },
    { title: 'Troubleshooting', entries: TROUBLESHOOTING },
    { title: 'Migrate', entries: MIGRATE },
    { title: 'Operate', entries: OPERATE },
    { title: 'Security', entries: SECURITY },
    { title: 'FAQ', entries: [doc('faq', 'FAQ', 'against Karpenter, Auto Mode and others')] },
    { title: 'Reference', entries: REFERENCE },
    { title: 'Examples', entries: examples(), isFolded: true },
    { title: 'Project', entries: PROJECT, isFolded: true },
    { title: 'Measurements', entries: folder('bench'), isFolded: true },
    { title: 'Decision records', entries: folder('docs/decisions'), isFolded: true },
  ];
}

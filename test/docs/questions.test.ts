import { describe, expect, it } from 'vitest';
import { textOf } from '../support/repository.ts';
import { anchorsOf } from './pages.ts';

/**
 * Questions that users of Karpenter and its neighbours ask, in their issues and its FAQ, with the
 * page below `docs` that answers each and words of the answer.
 */
const QUESTIONS: readonly (readonly [string, string, RegExp])[] = [
  ['How do I stop consolidation that is not worth it?', 'concepts/consolidation', /pays back/],
  ['Can I ask for a least saving?', 'concepts/consolidation', /consolidation-guard: saving=/],
  ['Why was my node deleted?', 'troubleshooting/nodes-go#why-did-this-node-go', /Disruption/],
  ['Why is my pod pending?', 'troubleshooting/pending-pods#what-the-message-says', /types → /],
  ['Why this instance type?', 'concepts/packing', /runner-up/],
  ['Why an old generation?', 'faq#why-does-it-choose-an-old-generation', /instance-generation/],
  ['Do Savings Plans count?', 'faq#do-savings-plans-and-reserved-instances-count', /NodeOverlay/],
  ['Does a discount end with the commitment?', 'concepts/overlays', /beyond a commitment/],
  ['Can I chain overlays?', 'concepts/overlays', /there is no chain/],
  ['Which of two equal overlays wins?', 'concepts/overlays', /first name in the alphabet/],
  [
    'Why has the node less memory than planned?',
    'troubleshooting/pods-on-nodes#memory-that-a-node-really-has',
    /7\.5 %/,
  ],
  ['How large may my cluster be?', 'operate/scale', /10,000 nodes, 100,000 pods/],
  ['How much memory does it need?', 'faq#how-much-memory-does-it-need', /647 MB/],
  ['How do I keep spare capacity?', 'tasks/headroom', /CapacityBuffer/],
  ['Can it use stopped instances?', 'tasks/headroom#stopped-instances', /no stopped/],
  ['Do I need a node group to begin?', 'faq#does-it-need-a-node-to-start', /CoreDNS/],
  ['Can I limit several NodePools together?', 'faq#a-limit-for-several-nodepools-together', /none/],
  ['Can I limit the bill?', 'faq#a-limit-in-dollars', /none/],
  ['What if there is no spot capacity?', 'tasks/spot', /next best one/],
  ['What if EC2 has no capacity for hours?', 'troubleshooting/launches', /up to 6 hours/],
  ['When may nodes be disrupted?', 'tasks/budgets', /in UTC/],
  ['How do I allow disruption in a window only?', 'tasks/budgets', /written as its opposite/],
  ['Why does the drain never end?', 'troubleshooting/nodes-stay#a-drain-does-not-end', /budget/],
  ['How do I bound a drain?', 'concepts/claims#a-drain', /terminationGracePeriod: 1h/],
  ['How do I share a GPU?', 'tasks/gpus#slices-time-slicing-and-mps', /nvidia\.com\/gpu-slice/],
  ['How do I use MIG?', 'tasks/gpus#mig', /mig\.config/],
  ['Is dynamic resource allocation supported?', 'tasks/gpus#not-supported', /stays pending/],
  ['Are preferences kept at any price?', 'concepts/packing', /preferenceWorthZone=1/],
  ['Can I see what would happen?', 'plan', /read-only/],
  ['The subnet has no addresses left', 'troubleshooting/pods-on-nodes#ip-addresses', /addresses/],
  ['How do I scale to zero at night?', 'tasks/pausing#pause-or-not', /empty nodes go/],
  ['How do I upgrade, and its CRDs?', 'operate/upgrade', /CRDs are never downgraded/],
  ['How do I keep a bad AMI from all nodes?', 'tasks/amis#what-a-new-image-does', /canary/],
  ['What about rebalance recommendations?', 'tasks/spot#when-ec2-takes-a-node-back', /event only/],
  ['Why is spot not moved to cheaper spot?', 'tasks/spot', /SpotToSpotConsolidation/],
  ['How do I keep a share on-demand?', 'tasks/spot', /twelve of fifteen/],
  ['How are volume limits counted?', 'troubleshooting/pods-on-nodes#volumes', /max volume count/],
  ['How do I use a capacity reservation?', 'tasks/reservations', /counted exactly/],
  ['Does it work without a way to the internet?', 'private-clusters', /isolatedVpc/],
  ['What if prices cannot be read?', 'operate/alarms#catalogerrors-and-priceage', /embedded/],
  ['What if AWS throttles?', 'faq#what-if-aws-throttles-the-api', /four calls a minute/],
  ['Who may launch and terminate?', 'security/hardening#audit', /only that of `lifecycle`/],
  ['Does a crash leave instances behind?', 'concepts/claims#crashes', /second instance/],
  ['Why does my node not join?', 'troubleshooting/nodes-do-not-join', /access entry/],
  ['What do my nodes cost, by team?', 'tasks/cost-reports#by-team', /cost allocation tags/],
  ['How do I run several clusters?', 'tasks/several-clusters', /dashboard for all/],
  ['All or nothing for a gang?', 'faq#all-or-nothing-for-a-gang-of-pods', /no gang/],
  ['Can it wait before it launches?', 'faq#can-it-wait-a-little-before-it-launches', /300 ms/],
  ['Does it look at real use?', 'faq#does-it-look-at-what-pods-really-use', /requests count/],
  ['How do I leave Cluster Autoscaler?', 'migrate/cluster-autoscaler', /node groups? /],
  ['How do I come from old Provisioners?', 'convert', /Provisioners/],
  [
    'Do I need the Node Termination Handler?',
    'faq#do-i-need-the-node-termination-handler',
    /remove/,
  ],
  ['Which NodePool will my pod use?', 'faq#which-nodepool-does-my-pod-get', /heaviest/],
  ['Why is a new DaemonSet pending?', 'troubleshooting/pending-pods', /PriorityClass/],
  ['Why did an extra node come and go?', 'troubleshooting/nodes-go', /maxSurge/],
  ['May it run beside Karpenter?', 'migrate/karpenter', /writes nothing/],
  ['How do I go back?', 'migrate/karpenter#back-to-karpenter', /hand-back/],
  ['Do my settings last through an upgrade?', 'deploy#settings-that-last', /cdk\.json/],
  ['What if I upgrade and forget a setting?', 'operate/upgrade', /goes back to its default/],
  [
    'Are Capacity Blocks drained?',
    'tasks/reservations#when-a-reservation-ends',
    /nodes are drained/,
  ],
  ['Are open ODCRs used?', 'tasks/reservations#open-reservations', /preference `none`/],
  [
    'How do I stop at the size of my Savings Plan?',
    'tasks/reservations#savings-plans-and-reserved-instances',
    /`limits` and a greater `weight`/,
  ],
  ['How long does do-not-disrupt hold?', 'tasks/budgets#do-not-disrupt', /spot interruption/],
  ['How do I allow it on Saturday night only?', 'tasks/budgets', /duration: 162h/],
  ['What does each namespace cost?', 'tasks/cost-reports#by-namespace', /OpenCost/],
  ['How do I save at night, with an example?', 'tasks/nights', /kind: CronJob/],
  ['Which node stays when all is at zero?', 'tasks/nights#the-last-node', /CoreDNS/],
  ['Can I keep my Karpenter dashboards?', 'operate/dashboards', /kube-state-metrics/],
  ['Does it repair nodes?', 'tasks/node-repair#the-conditions', /AcceleratedHardwareReady/],
  ['How is my user data merged?', 'tasks/user-data', /NodeConfig last/],
  ['Which kubelet settings count?', 'tasks/user-data#kubelet-settings', /kubeReserved/],
  ['Does minDomains count?', 'tasks/zonal-spread', /`minDomains`/],
  ['Does it work with Kueue?', 'faq#does-it-work-with-kueue', /ProvisioningRequest/],
  ['What is SpotMaxPriceTooLow?', 'troubleshooting/launches', /SpotMaxPriceTooLow/],
  ['What is the policy Balanced?', 'concepts/consolidation#balanced', /constant 2/],
  ['Does pausing launches cost money?', 'tasks/pausing', /costs money/],
  ['What does uninstalling leave?', 'deploy#uninstall', /remaining nodes/],
];

/** Forty more, of Karpenter's FAQ and the titles of its issues. */
const MORE_QUESTIONS: typeof QUESTIONS = [
  [
    'What is the Name tag of an instance?',
    'faq#what-names-and-tags-do-instances-have',
    /tag `Name`/,
  ],
  [
    'Can I bring a launch template?',
    'faq#can-i-use-my-own-launch-template',
    /EC2NodeClass take its place/,
  ],
  ['How do I avoid t3 and t4g?', 'faq#can-i-leave-out-burstable-types', /instance-category NotIn/],
  [
    'How large is the root volume, and is it gp3?',
    'tasks/user-data#volumes-metadata-and-tags',
    /volumeType: gp3/,
  ],
  ['Pods cannot reach IMDS', 'troubleshooting/nodes-do-not-join', /httpPutResponseHopLimit/],
  ['How are local disks used?', 'troubleshooting/pods-on-nodes#ephemeral-storage', /RAID0/],
  ['A registry mirror, or a proxy?', 'tasks/user-data#a-registry-mirror-or-a-proxy', /NO_PROXY/],
  ['How do I get hugepages?', 'concepts/overlays', /hugepages/],
  ['Does it work with Cilium?', 'troubleshooting/pods-on-nodes#another-cni', /agent-not-ready/],
  ['Which edits replace my nodes?', 'tasks/amis#what-else-makes-nodes-drift', /does not\./],
  [
    'What if I delete a NodePool?',
    'faq#what-happens-if-i-delete-a-nodepool-or-an-ec2nodeclass',
    /drained at once/,
  ],
  [
    'What if I delete an EC2NodeClass?',
    'faq#what-happens-if-i-delete-a-nodepool-or-an-ec2nodeclass',
    /NodeClassTerminating/,
  ],
  ['How do I rotate all nodes now?', 'faq#how-do-i-replace-all-nodes-now', /one canary first/],
  ['How do I retire a NodePool?', 'faq#how-do-i-move-from-one-nodepool-to-another', /one by one/],
  ['Does it go back to spot?', 'tasks/spot#back-to-spot', /no feature gate/],
  ['Can I set a maximum spot price?', 'tasks/spot#back-to-spot', /no maximum price/],
  ['How do I test an interruption?', 'tasks/spot#try-a-shortage', /Fault Injection/],
  ['Why 502 while nodes are drained?', 'troubleshooting/pods-on-nodes#load-balancers', /preStop/],
  [
    'Two security groups have the tag',
    'troubleshooting/pods-on-nodes#load-balancers',
    /only one security group/,
  ],
  ['Local Zones?', 'faq#local-zones-wavelength-outposts', /Not tested/],
  ['Does it touch hybrid nodes?', 'faq#which-nodes-does-it-manage', /Hybrid Nodes/],
  ['Can it use shared subnets?', 'faq#subnets-that-another-account-shares-with-mine', /`id`/],
  [
    'What must the deployer be allowed?',
    'faq#what-permissions-does-the-person-who-deploys-need',
    /cdk-hnb659fds/,
  ],
  ['How full is a NodePool?', 'faq#what-does-kubectl-get-nodepools-show', /`limits` bound/],
  ['What do pod priorities do?', 'faq#do-priorities-of-pods-count', /preemption/],
  ['How do I use EFA?', 'tasks/gpus#efa', /all EFA interfaces/],
  ['How do I run Windows nodes?', 'troubleshooting/pods-on-nodes#windows', /windowsNodes/],
  ['How do I set a sysctl?', 'tasks/user-data', /max_map_count/],
  ['How does a node shut down gracefully?', 'tasks/user-data', /shutdownGracePeriod/],
  ['In which order do I upgrade EKS?', 'tasks/amis', /Upgrade the control plane/],
  [
    'My autoscaler makes nodes flap',
    'troubleshooting/nodes-go#nodes-come-and-go',
    /stabilizationWindowSeconds/,
  ],
  [
    'How do I even out zones?',
    'tasks/zonal-spread#even-out-a-cluster-that-is-uneven',
    /descheduler/,
  ],
  ['How do I get fewer, larger nodes?', 'concepts/packing', /nodePrice/],
  ['What of safe-to-evict?', 'migrate/cluster-autoscaler', /safe-to-evict/],
  ['In which order are pods evicted?', 'concepts/claims#a-drain', /four groups/],
  [
    'The stack was deleted. And now?',
    'operate/backup#a-stack-that-was-deleted-by-mistake',
    /stack/,
  ],
  ['Do instances get public addresses?', 'reference/ec2nodeclass', /associatePublicIPAddress/],
  ['Does it phone home?', 'faq#does-it-send-data-anywhere', /No\./],
  ['How do I get debug logs?', 'troubleshooting/README#logs', /logLevel=DEBUG/],
  [
    'How do I encrypt volumes with my key?',
    'deploy#volumes-with-a-customer-managed-key',
    /kms:CreateGrant/,
  ],
];

describe('questions of users', () => {
  it('are at least 40', () => expect(QUESTIONS.length).toBeGreaterThanOrEqual(40));

  it.each([...QUESTIONS, ...MORE_QUESTIONS])('%s', (_question, place, words) => {
    const [page = '', anchor = ''] = place.split('#');
    const file = `docs/${page}.md`;
    if (anchor !== '') expect(anchorsOf(file)).toContain(anchor);
    expect(textOf(file).replaceAll(/\s+/g, ' ')).toMatch(words);
  });
});

import type { Command } from 'commander';

/** A command as the help lists it; its code is read when it is asked for. */
export interface Listed {
  readonly name: string;
  /** What follows the name in the list of commands. */
  readonly usage: string;
  readonly description: string;
  readonly load: () => Promise<Command>;
}

const OPTIONS = '[options]';
const PATHS = '[options] [paths...]';

/** Every command, in the order of the help. A test holds it against the commands themselves. */
export const COMMANDS: readonly Listed[] = [
  {
    name: 'compare',
    usage: PATHS,
    description: "compare what pods cost now, Karpenter's way and Joiner's; nothing is changed",
    load: async () => (await import('./commands/compare.ts')).compareCommand(),
  },
  {
    name: 'simulate',
    usage: PATHS,
    description: 'run Joiner on manifests in a simulated cluster and cloud',
    load: async () => (await import('./commands/simulate.ts')).simulateCommand(),
  },
  {
    name: 'replay',
    usage: '[options] <snapshots...>',
    description: 'decide again what was recorded, and compare byte for byte',
    load: async () => (await import('./commands/replay.ts')).replayCommand(),
  },
  {
    name: 'solve',
    usage: '[options] <case.json>',
    description: 'plan the nodes for the pods of a case file (JSON; - reads standard input)',
    load: async () => (await import('./commands/solve.ts')).solveCommand(),
  },
  {
    name: 'plan',
    usage: OPTIONS,
    description: 'show what would be launched or removed in a cluster now; it is only read',
    load: async () => (await import('./commands/plan.ts')).planCommand(),
  },
  {
    name: 'apply',
    usage: '[options] <file>',
    description:
      'carry out exactly the decisions of joiner plan --out, or say why they no longer hold',
    load: async () => (await import('./commands/apply.ts')).applyCommand(),
  },
  {
    name: 'explain',
    usage: '[options] <what> [name]',
    description: 'say why a pod is or would be where it is, or what becomes of a node',
    load: async () => (await import('./commands/explain.ts')).explainCommand(),
  },
  {
    name: 'top',
    usage: OPTIONS,
    description: 'list the nodes of a cluster: what pods request of them, and what they cost',
    load: async () => (await import('./commands/top.ts')).topCommand(),
  },
  {
    name: 'budgets',
    usage: OPTIONS,
    description: 'show how many nodes disruption budgets let go at once, from when to when',
    load: async () => (await import('./commands/budgets.ts')).budgetsCommand(),
  },
  {
    name: 'diagnose',
    usage: OPTIONS,
    description: 'show what NodeOverlays do, per NodePool, instance type and capacity type',
    load: async () => (await import('./commands/diagnose.ts')).diagnoseCommand(),
  },
  {
    name: 'catalog',
    usage: OPTIONS,
    description: 'read the instance types and prices of a region from AWS into a file',
    load: async () => (await import('./commands/catalog.ts')).catalogCommand(),
  },
  {
    name: 'convert',
    usage: PATHS,
    description: 'print manifests of Karpenter before v1 as v1, and say what that changes',
    load: async () => (await import('./commands/convert.ts')).convertCommand(),
  },
  {
    name: 'crds',
    usage: OPTIONS,
    description: 'print the CustomResourceDefinitions',
    load: async () => (await import('./commands/crds.ts')).crdsCommand(),
  },
  {
    name: 'doctor',
    usage: OPTIONS,
    description: 'check a cluster and an account, before and after cdk deploy',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  },
  {
    name: 'bars',
    usage: '[options] [action] [keys...]',
    description: 'list what EC2 refused and is left alone for a while, or forget it',
    load: async () => (await import('./commands/bars.ts')).barsCommand(),
  },
  {
    name: 'dead-letters',
    usage: OPTIONS,
    description: 'list the notices that interrupt has failed on, say why, and redrive them',
    load: async () => (await import('./commands/dead-letters.ts')).deadLettersCommand(),
  },
  {
    name: 'cost',
    usage: OPTIONS,
    description: 'what Joiner itself costs a month, next to Karpenter and to EKS Auto Mode',
    load: async () => (await import('./commands/cost.ts')).costCommand(),
  },
  {
    name: 'pause',
    usage: '[options] <part>',
    description: 'stop launching, replacing or terminating nodes, or all of it',
    load: async () => (await import('./commands/pause.ts')).pauseCommand(),
  },
  {
    name: 'resume',
    usage: '[options] [part]',
    description: 'go on after a pause',
    load: async () => (await import('./commands/pause.ts')).resumeCommand(),
  },
  {
    name: 'release',
    usage: '[options] [names...]',
    description: 'take the finalizers off nodes when Joiner is gone, so that they can be deleted',
    load: async () => (await import('./commands/release.ts')).releaseCommand(),
  },
];

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
    description: "compare the cost of pods under Karpenter's rules and under Joiner (read-only)",
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
    usage: '[options] <recordings...>',
    description: 'repeat recorded decisions and compare the results byte for byte',
    load: async () => (await import('./commands/replay.ts')).replayCommand(),
  },
  {
    name: 'solve',
    usage: '[options] <case.json>',
    description: 'plan the nodes for the pods of a case file (JSON)',
    load: async () => (await import('./commands/solve.ts')).solveCommand(),
  },
  {
    name: 'plan',
    usage: OPTIONS,
    description: 'preview the launches and disruptions of a live cluster (read-only)',
    load: async () => (await import('./commands/plan.ts')).planCommand(),
  },
  {
    name: 'apply',
    usage: '[options] <file>',
    description:
      'carry out exactly the decisions of joiner plan --out, or explain why they no longer hold',
    load: async () => (await import('./commands/apply.ts')).applyCommand(),
  },
  {
    name: 'explain',
    usage: '[options] <what> [name]',
    description:
      'explain why pods are on their nodes or pending, or why a node is kept or disrupted',
    load: async () => (await import('./commands/explain.ts')).explainCommand(),
  },
  {
    name: 'top',
    usage: OPTIONS,
    description: 'list the nodes of a cluster with requested resources, cost and state',
    load: async () => (await import('./commands/top.ts')).topCommand(),
  },
  {
    name: 'budgets',
    usage: OPTIONS,
    description: 'show disruption budgets as a timetable',
    load: async () => (await import('./commands/budgets.ts')).budgetsCommand(),
  },
  {
    name: 'diagnose',
    usage: OPTIONS,
    description: 'show the effect of NodeOverlays per NodePool, instance type and capacity type',
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
    description: 'convert older Karpenter manifests and node groups to v1',
    load: async () => (await import('./commands/convert.ts')).convertCommand(),
  },
  {
    name: 'crds',
    usage: OPTIONS,
    description: 'print the CustomResourceDefinitions',
    load: async () => (await import('./commands/crds.ts')).crdsCommand(),
  },
  {
    name: 'schema',
    usage: '[options] [name]',
    description: 'print the JSON Schema of a document that other programs read',
    load: async () => (await import('./commands/schema.ts')).schemaCommand(),
  },
  {
    name: 'template',
    usage: OPTIONS,
    description: 'write the CloudFormation template of a cluster, and the code of the functions',
    load: async () => (await import('./commands/template.ts')).templateCommand(),
  },
  {
    name: 'export',
    usage: '[options] <what>',
    description: 'write the Helm chart, the Terraform module, manifests or examples into a folder',
    load: async () => (await import('./commands/export.ts')).exportCommand(),
  },
  {
    name: 'doctor',
    usage: OPTIONS,
    description: 'check a cluster and an account, before and after cdk deploy',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  },
  {
    name: 'decisions',
    usage: OPTIONS,
    description: 'list what Joiner has decided, and why, from records',
    load: async () => (await import('./commands/decisions.ts')).decisionsCommand(),
  },
  {
    name: 'savings',
    usage: OPTIONS,
    description: 'show what launches and consolidation have saved, from records and recordings',
    load: async () => (await import('./commands/savings.ts')).savingsCommand(),
  },
  {
    name: 'backtest',
    usage: '[options] <dir>',
    description: 'decide recorded moments again with other settings, NodePools or rules',
    load: async () => (await import('./commands/backtest.ts')).backtestCommand(),
  },
  {
    name: 'advise',
    usage: '[options] [recording]',
    description: 'list changes that would make a cluster cheaper, by their amount (read-only)',
    load: async () => (await import('./commands/advise.ts')).adviseCommand(),
  },
  {
    name: 'shadow',
    usage: '[options] <action> [file]',
    description:
      'report what Joiner would have done beside Karpenter, or record it in a file (read-only)',
    load: async () => (await import('./commands/shadow.ts')).shadowCommand(),
  },
  {
    name: 'bars',
    usage: '[options] [action] [keys...]',
    description: 'list unavailable offerings, or make them available again',
    load: async () => (await import('./commands/bars.ts')).barsCommand(),
  },
  {
    name: 'dead-letters',
    usage: OPTIONS,
    description:
      'list, redrive or discard interruption messages that the function interrupt could not handle',
    load: async () => (await import('./commands/dead-letters.ts')).deadLettersCommand(),
  },
  {
    name: 'mcp',
    usage: OPTIONS,
    description: 'serve read-only commands as tools for assistants (Model Context Protocol)',
    load: async () => (await import('./commands/mcp.ts')).mcpCommand(),
  },
  {
    name: 'completion',
    usage: '[options] <shell>',
    description: 'print the script for command completion in a shell',
    load: async () => (await import('./commands/completion.ts')).completionCommand(),
  },
  {
    name: 'cost',
    usage: OPTIONS,
    description: 'estimate the monthly cost of Joiner itself, Karpenter and EKS Auto Mode',
    load: async () => (await import('./commands/cost.ts')).costCommand(),
  },
  {
    name: 'pause',
    usage: '[options] <scope>',
    description: 'pause launches, disruptions or terminations',
    load: async () => (await import('./commands/pause.ts')).pauseCommand(),
  },
  {
    name: 'resume',
    usage: '[options] [scope]',
    description: 'end a pause',
    load: async () => (await import('./commands/pause.ts')).resumeCommand(),
  },
  {
    name: 'adopt',
    usage: OPTIONS,
    description: 'take over a cluster from Karpenter, step by step',
    load: async () => (await import('./commands/adopt.ts')).adoptCommand(),
  },
  {
    name: 'hand-back',
    usage: OPTIONS,
    description: 'give a cluster back to Karpenter, step by step',
    load: async () => (await import('./commands/hand-back.ts')).handBackCommand(),
  },
  {
    name: 'release',
    usage: '[options] [names...]',
    description: 'remove finalizers from nodes after Joiner has been uninstalled',
    load: async () => (await import('./commands/release.ts')).releaseCommand(),
  },
  {
    name: 'version',
    usage: OPTIONS,
    description: "print the versions of the command and of a cluster's functions",
    load: async () => (await import('./commands/version.ts')).versionCommand(),
  },
];

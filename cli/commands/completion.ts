import { RootCommand } from '@bomb.sh/tab';
import { Argument, Command } from 'commander';
import { writeOut } from '../terminal.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell', 'kubectl'] as const;

/** kubectl runs a program of this name on the PATH, `kubectl_complete-joiner`. */
const FOR_KUBECTL = `#!/bin/sh
exec kubectl joiner complete -- "$@"
`;

/** The library prints the script instead of returning it. */
function scriptOf(shell: string, name: string): string {
  const printed: string[] = [];
  const { log } = console;
  console.log = (text: string) => printed.push(text);
  try {
    new RootCommand().setup(name, name, shell);
  } finally {
    console.log = log;
  }
  return `${printed.join('\n')}\n`;
}

/**
 * The library declares its constants read-only, with the same names for each command: sourcing the
 * script twice, or that of a second name, would be an error.
 */
function sourcedAgain(script: string): string {
  return script.replaceAll(/^readonly (?=ShellComp)/gm, '');
}

/** The library's script for bash leaves names of files out, where the answer asks for them. */
function withFiles(name: string): string {
  return `complete -o default -F __${name.replaceAll('-', '_')}_complete ${name}\n`;
}

interface Options {
  readonly name: string;
}

const EXAMPLES = `
Examples:
  source <(joiner completion bash)                           # in ~/.bashrc
  source <(joiner completion zsh)                            # in ~/.zshrc, after compinit
  joiner completion fish > ~/.config/fish/completions/joiner.fish
  joiner completion powershell | Out-String | Invoke-Expression
  joiner completion kubectl > ~/.local/bin/kubectl_complete-joiner && \\
    chmod +x ~/.local/bin/kubectl_complete-joiner            # for kubectl joiner
`;

/** `joiner completion`: the script with which a shell completes commands, options and names. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('print the script for command completion in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .option('--name <name>', 'the name under which the command runs', 'joiner')
    .addHelpText('after', EXAMPLES)
    .action((shell: (typeof SHELLS)[number], { name }: Options) => {
      if (shell === 'kubectl') {
        writeOut(FOR_KUBECTL);
        return;
      }
      const script = scriptOf(shell, name);
      writeOut(shell === 'bash' ? `${sourcedAgain(script)}${withFiles(name)}` : script);
    });
}

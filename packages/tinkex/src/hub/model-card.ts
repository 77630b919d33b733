/** The model card of an adapter: where it comes from, in the fields that the hub shows. */
export function modelCard(baseModel: string, tinkerPath: string, repository: string): string {
  return `---
base_model: ${baseModel}
library_name: peft
tags:
- tinker
- peft
- lora
- base_model:adapter:${baseModel}
tinker_path: ${tinkerPath}
---

# ${repository.split('/').at(-1)}

A LoRA adapter of \`${baseModel}\`, trained with Tinker.

Checkpoint: \`${tinkerPath}\`

\`\`\`python
from peft import AutoPeftModelForCausalLM

model = AutoPeftModelForCausalLM.from_pretrained("${repository}")
\`\`\`
`;
}

/** The checkpoint that a model card names, if it is another one. */
export function otherCheckpointIn(card: string, tinkerPath: string): string | undefined {
  const named: readonly string[] = card.match(/tinker:\/\/[^\s"'`)\]]*[^\s"'`)\].,;:!?]/g) ?? [];
  return named.includes(tinkerPath) ? undefined : named[0];
}

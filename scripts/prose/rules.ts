/** A phrase that our prose avoids, and what to write instead. */
export interface ProseRule {
  /** Matched case-insensitively, on word boundaries; a space matches any white space, line breaks included. */
  readonly pattern: string;
  readonly write: string;
}

/** The word list of the house. The glossary in CONTRIBUTING.md has the words to use. */
export const RULES: readonly ProseRule[] = [
  // People in place of programs.
  { pattern: "(?:nobody|no one)(?:'s)?(?! (?:is|was) \\w+ing)", write: 'name the part that does (not) do it, or use the passive' },
  { pattern: "(?:somebody|someone|whoever)(?:'s)?", write: 'name the caller, the user or the part' },
  { pattern: '(?:told|tells|telling)(?! (?:\\S+ ){0,6}apart)', write: 'reports, publishes, receives' },
  { pattern: 'asks? nobody', write: 'makes no request' },
  { pattern: "(?:the )?(?:server|table|user|caller|service)'s (?:word|wish|wishes|mood)", write: 'what the server answers or requests' },
  { pattern: "(?:whose|own|nobody's|somebody's|its) business", write: 'the responsibility of …' },
  { pattern: 'news', write: 'event, notification' },

  // Translated phrases.
  { pattern: "of (?:its|their|our|your|his|her|my|one's) own", write: 'its own X, a separate X' },
  { pattern: '(?:go|goes|went|gone) on(?! (?:the|a|an|to|top|disk|port)\\b)', write: 'continue' },
  {
    pattern:
      '(?<!\\bthere )(?:is|are|was|were) no (?!longer|more|less|fewer|different|later|earlier|better|worse|larger|longer|such|reason|way|need|doubt|use|match)[a-z]+',
    write: 'is not a …, is not …',
  },
  { pattern: 'for ever', write: 'forever' },
  { pattern: 'anew|afresh', write: 'again' },
  { pattern: 'at once', write: 'immediately, or: at the same time' },
  { pattern: '(?:stand|stands|stood|standing|wait|waits|waited|waiting|queue up) in (?:the )?line', write: 'waits in the queue' },
  { pattern: 'so many', write: 'that many, N, too many' },
  { pattern: '(?<!(?:a|the|no|last|second|another) )chance|by chance|time and chance', write: 'random, randomness' },
  { pattern: "the machine's(?: time| clock)?", write: 'the system clock' },
  { pattern: '(?:looks|looked|looking) at', write: 'inspects, reads, checks' },
  {
    pattern:
      '(?:a|an|one|once|two|three) (?:(?!of|in|without|for|at|to|by|with|from)\\w+ )?an? (?:attempt|call|request|line|file|package|chunk|conversation|entry|row|test|step|pass|sample|model|session|client|worker|process|poll|turn|event|version)',
    write: 'one X per Y',
  },
  { pattern: '(?:is|are|was|were|be|been|being) asked for', write: 'is requested' },
  { pattern: '(?:is|are|was|were) made(?! (?:of|up|to)\\b)', write: 'creates, builds, sends (name the actor)' },
  { pattern: 'dear', write: 'expensive' },
  { pattern: '(?:lie|lies|lay|lying) about', write: 'remain, are left unused' },
  { pattern: '(?:sequence|seq) numbers?', write: 'sequence ID' },
  { pattern: 'its place', write: 'its position, the sequence ID' },
  { pattern: '(?:promise|promises) (?:is|are|was|were|that is|that are) (?:polled|gone|lost|expired|ready)', write: 'future' },
  { pattern: '(?:lost|expired) promises?', write: 'future' },
  { pattern: '(?:hand|hands|handed|handing) (?:it |them )?on', write: 'pass, forward' },
  { pattern: 'knows? nothing of', write: 'does not know about' },
  { pattern: 'in vain|for want of', write: 'without success; because … is missing' },
  { pattern: '(?:foreign|full) (?:hands|house)', write: 'say it plainly' },
  { pattern: '(?:can|could|cannot) be had|to be had', write: 'is (not) available' },
  { pattern: 'without a word', write: 'silently' },
  { pattern: 'shall', write: 'must, will' },

  // American spelling.
  { pattern: 'learnt', write: 'learned' },
  { pattern: 'behaviours?', write: 'behavior' },
  { pattern: 'colou(?:r|rs|red|ring|rless)', write: 'color' },
  { pattern: '(?:favour|honour|neighbour|labour)(?:s|ed|ing|ite|able|hood)?', write: '-or spelling' },
  { pattern: 'catalogues?', write: 'catalog' },
  { pattern: '(?:cancelled|cancelling|labelled|labelling|modelled|modelling|travelled|signalled|signalling)', write: 'one l' },
  {
    pattern:
      '(?:normal|optim|initial|final|serial|deserial|organ|recogn|summar|util|minim|maxim|general|special|synchron|canonical|token|quant|memor|parallel|author|custom|material|stabil|real|emphas|prior|categor|character)is(?:e|es|ed|ing|er|ers|ation|ations)',
    write: '-ize spelling',
  },
  { pattern: 'analys(?:e|es|ed|ing)(?<!analyses)', write: 'analyze' },
  { pattern: 'licences?', write: 'license' },
  { pattern: 'centres?|metres?', write: '-er spelling' },
  { pattern: 'artefacts?|judgement|whilst|amongst|grey', write: 'artifact, judgment, while, among, gray' },
];

import * as T from '@tinkex/types';
const D=128,N=4096;
const request: T.ForwardBackwardRequest = { modelId:'m', seqId:1, lossFn:'c', data: Array.from({length:D},(_,datum)=>{ const tokens=Int32Array.from({length:N},(_e,i)=>(datum*7919+i*104729)%150000); return { modelInput:T.ModelInput.fromInts(tokens), lossFnInputs:{ targetTokens:T.TensorData.fromArray(tokens,'int64'), weights:T.TensorData.fromArray(new Float32Array(N).fill(1)) } } }) };
const rtext=T.stringifyJson(T.forwardBackwardRequest.encode(request));
const fls=Array.from({length:D},(_,d)=>Float32Array.from({length:N},(_e,i)=>-Math.abs(Math.sin(d*N+i))));
const output: T.ForwardBackwardOutput = { lossFnOutputType:'s', metrics:{}, lossFnOutputs: fls.map(f=>({logprobs:T.TensorData.fromArray(f)})) };
const text=T.stringifyJson(T.forwardBackwardOutput.encode(output));
for(let i=0;i<30;i++) T.forwardBackwardRequest.decode(T.parseJson(rtext));
for(let i=0;i<80;i++) T.forwardBackwardOutput.decode(T.parseJson(text));

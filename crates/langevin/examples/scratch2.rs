use langevin::{chain::*,dynamics::*,models::*,skew::*,record::*,batch::*}; use std::time::Instant; use nalgebra::DMatrix; use std::sync::Arc;
use langevin::rng::*; use langevin::target::Target; use langevin::metric::Metric;
fn go<T:Target,M:Metric>(name:&str,t:&T,d:&Dynamics<M>,steps:u64,h:f64,n:usize,start:Vec<f64>,m:usize){
  let plan=Plan::new(steps,h).chains(m).gradient(if n>0 {Gradient::minibatch(n)} else {Gradient::Exact}).start(Start::Fixed(start)).threads(1);
  let obs:Arc<[Observable]>=vec![Observable::Sum,Observable::SumOfSquares].into();
  let marks=Marks::new([steps]).unwrap();
  let mut best=f64::MAX; let mut mean=[0.0;2]; let mut nd=0;
  for _ in 0..3 { let t0=Instant::now(); let o=run(t,d,&plan,||Averages::new(obs.clone(),marks.clone()),Control::default()).unwrap(); best=best.min(t0.elapsed().as_secs_f64());
   nd=o.divergences.len(); mean=[0.0;2]; let mut c=0.0; for (_,r,l) in o.healthy(){ for k in 0..2 { mean[k]+=r.running(k,l)[0]; } c+=1.0;} mean[0]/=c; mean[1]/=c; }
  println!("{name:24} {:8.2} ns/chain-step  {:.3} M/s/core  means {mean:?} div {nd}", best*1e9/(steps as f64*m as f64), 1e-6*(steps as f64*m as f64)/best);
}
fn main(){
  let mut r=Rng::new(5,0,Stream::Setup);
  let id=DMatrix::identity(3,3);
  let x:Vec<f64>=(0..30).map(|_| r.normal()).collect();
  let lg=LinearGaussian::new(x,&(&id*0.25),&DMatrix::from_diagonal(&vec![0.2,0.01,0.05].into())).unwrap();
  let j3=SkewMatrix::sign_pattern(3,0.5).unwrap();
  go("gauss LD n=2",&lg,&Dynamics::ld(3),100000,0.005,2,vec![0.0;3],64);
  go("gauss GiIrr n=2",&lg,&Dynamics::gi_irr(lg.metric().unwrap(),j3.clone()).unwrap(),100000,0.005,2,vec![0.0;3],64);
  go("gauss LD single",&lg,&Dynamics::ld(3),1000000,0.005,2,vec![0.0;3],1);
  let x:Vec<f64>=(0..30).map(|_| 10.0*r.normal()).collect();
  let no=NormalParameters::new(x).unwrap(); let j2=SkewMatrix::sign_pattern(2,2.0).unwrap();
  go("normal LD n=6",&no,&Dynamics::ld(2),100000,0.001,6,vec![5.0,20.0],64);
  go("normal LD exact",&no,&Dynamics::ld(2),100000,0.001,0,vec![5.0,20.0],64);
  go("normal GiIrr n=6",&no,&Dynamics::gi_irr(no.metric(),j2.clone()).unwrap(),100000,0.001,6,vec![5.0,20.0],64);
  go("normal LD single",&no,&Dynamics::ld(2),1000000,0.001,6,vec![5.0,20.0],1);
  let x:Vec<f64>=(0..8000).map(|_| r.normal()).collect(); let y:Vec<f64>=(0..400).map(|i| if x[i*20]+r.normal()>0.0 {1.0} else {0.0}).collect();
  let lo=LogisticRegression::new(x,20,&y,1.0).unwrap(); let j20=SkewMatrix::random_signs(20,1).unwrap();
  go("logistic LD n=10",&lo,&Dynamics::ld(20),20000,1e-4,10,vec![0.0;20],64);
  go("logistic LD exact",&lo,&Dynamics::ld(20),1000,1e-4,0,vec![0.0;20],64);
  go("logistic RM n=10",&lo,&Dynamics::rm(lo.fisher_plus_identity()),500,1e-4,10,vec![0.0;20],16);
  go("logistic GiIrr n=10",&lo,&Dynamics::gi_irr(lo.fisher_plus_identity(),j20).unwrap(),500,1e-4,10,vec![0.0;20],16);
  let x:Vec<f64>=(0..1200).map(|_| r.normal()).collect(); let ica=Ica::new(x,3,1.0).unwrap(); let j9=SkewMatrix::kronecker_signs(3).unwrap();
  let w0=vec![1.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,1.0];
  go("ICA LD n=40",&ica,&Dynamics::ld(9),10000,1e-5,40,w0.clone(),64);
  go("ICA LD exact",&ica,&Dynamics::ld(9),1000,1e-5,0,w0.clone(),64);
  go("ICA RM n=40",&ica,&Dynamics::rm(ica.natural_plus_identity()),10000,1e-5,40,w0.clone(),64);
  go("ICA GiIrr n=40",&ica,&Dynamics::gi_irr(ica.natural_plus_identity(),j9).unwrap(),10000,1e-5,40,w0,64);
}

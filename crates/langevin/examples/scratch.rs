use langevin::real::*; use langevin::rng::*; use std::time::Instant; use std::hint::black_box;
struct N; impl Kernel for N { type Output=(usize,f64); #[inline(always)] fn run<L:Lanes>(self)->(usize,f64){
 let mut r=Rng::<L>::for_chains(1,0,Stream::Noise); let mut buf=[L::zero();256]; let t=Instant::now();
 let reps=200_000*4/L::WIDTH/2; for _ in 0..reps { r.fill_normals(&mut buf); black_box(&mut buf);} (L::WIDTH, t.elapsed().as_secs_f64()*1e9/(reps as f64*256.0*L::WIDTH as f64)) } }
struct W; impl Kernel for W { type Output=f64; #[inline(always)] fn run<L:Lanes>(self)->f64{
 let mut r=Rng::<L>::for_chains(1,0,Stream::Noise); let t=Instant::now();let mut acc=L::Bits::of(0);
 let reps=20_000_000/L::WIDTH; for _ in 0..reps { acc=acc ^ r.next_word(); } let mut b=[0u64;16]; acc.store(&mut b); black_box(b); t.elapsed().as_secs_f64()*1e9/(reps as f64*L::WIDTH as f64) } }
struct F(fn(f64)->f64,u8); impl Kernel for F { type Output=f64; #[inline(always)] fn run<L:Lanes>(self)->f64{
 let xs:Vec<f64>=(0..4096).map(|i| -5.0+10.0*i as f64/4096.0).collect(); let mut out=vec![0.0;4096]; let t=Instant::now();
 let reps=2000; for _ in 0..reps { for i in (0..4096).step_by(L::WIDTH) { let x=L::load(&xs[i..]); let y= match self.1 {0=>x.exp(),1=>x.tanh(),2=>x.logistic(),_=>math::ln_normal(x*x+1.0)}; y.store(&mut out[i..]); } black_box(&mut out);} t.elapsed().as_secs_f64()*1e9/(reps as f64*4096.0) } }
fn main(){ for isa in Isa::available(){ for w in [1,4,8]{ if w>isa.width(){continue;} let (w2,t)=isa.run(w,N); println!("{isa:?} {w} {w2} normals {t:.2} ns  words {:.2}", isa.run(w,W));
 print!("   "); for k in 0..4 { print!(" f{k} {:.2}", isa.run(w,F(|x|x,k))); } println!(); } } }

// The functions of BridgeStan's C interface that the package uses, for one Stan model.
//
// Compiled together with what `stanc` makes of the model (given as MODEL), this gives a library
// like those of `bridgestan.compile_model`, for tests that cannot download Stan's sources.

#include MODEL

#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <stan/io/empty_var_context.hpp>
#include <stan/io/json/json_data.hpp>
#include <stan/math.hpp>
#include <stan/model/log_prob_grad.hpp>
#include <stan/services/util/create_rng.hpp>
#include <string>
#include <vector>

struct bs_model {
  std::unique_ptr<stan::model::model_base> model;
  std::string name;
  std::string names;
};

namespace {

// Runs the work; an exception becomes a message and a code other than 0.
template <class Work>
int guarded(char **error, Work work) {
  // Every thread needs a tape of its own.
  static thread_local stan::math::ChainableStack tape;
  try {
    work();
    return 0;
  } catch (const std::exception &e) {
    if (error) *error = strdup(e.what());
    return -1;
  }
}

Eigen::VectorXd vector(const double *numbers, size_t n) {
  return Eigen::Map<const Eigen::VectorXd>(numbers, n);
}

}  // namespace

extern "C" {

bs_model *bs_model_construct(const char *data, unsigned int seed, char **error) {
  bs_model *result = nullptr;
  guarded(error, [&] {
    std::stringstream text(data && *data ? data : "{}");
    stan::json::json_data context(text);
    auto made = std::make_unique<bs_model>();
    made->model.reset(&new_model(context, seed, nullptr));
    made->name = made->model->model_name();
    std::vector<std::string> names;
    made->model->constrained_param_names(names, false, false);
    for (size_t i = 0; i < names.size(); ++i) made->names += (i ? "," : "") + names[i];
    result = made.release();
  });
  return result;
}

void bs_model_destruct(bs_model *m) { delete m; }

void bs_free_error_msg(char *message) { free(message); }

const char *bs_name(const bs_model *m) { return m->name.c_str(); }

// Tests say by a variable whether the library claims to have been built for threads.
const char *bs_model_info(const bs_model *) {
  return getenv("STAN_WITHOUT_THREADS") ? "STAN_THREADS=false" : "STAN_THREADS=true";
}

const char *bs_param_names(const bs_model *m, bool, bool) { return m->names.c_str(); }

int bs_param_num(const bs_model *m, bool, bool) {
  std::vector<std::string> names;
  m->model->constrained_param_names(names, false, false);
  return names.size();
}

int bs_param_unc_num(const bs_model *m) { return m->model->num_params_r(); }

int bs_param_constrain(const bs_model *m, bool tp, bool gq, const double *theta_unc, double *theta,
                       void *, char **error) {
  return guarded(error, [&] {
    auto rng = stan::services::util::create_rng(0, 1);
    Eigen::VectorXd free = vector(theta_unc, bs_param_unc_num(m)), out;
    m->model->write_array(rng, free, out, tp, gq, nullptr);
    Eigen::VectorXd::Map(theta, out.size()) = out;
  });
}

int bs_param_unconstrain(const bs_model *m, const double *theta, double *theta_unc, char **error) {
  return guarded(error, [&] {
    Eigen::VectorXd given = vector(theta, bs_param_num(m, false, false)), out;
    m->model->unconstrain_array(given, out, nullptr);
    Eigen::VectorXd::Map(theta_unc, out.size()) = out;
  });
}

int bs_log_density_gradient(const bs_model *m, bool, bool, const double *theta_unc, double *value,
                            double *gradient, char **error) {
  return guarded(error, [&] {
    Eigen::VectorXd free = vector(theta_unc, bs_param_unc_num(m)), out;
    *value = stan::model::log_prob_grad<true, true>(*m->model, free, out, nullptr);
    Eigen::VectorXd::Map(gradient, out.size()) = out;
  });
}

}  // extern "C"

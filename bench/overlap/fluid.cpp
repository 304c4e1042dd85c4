// A plain simulator of overlapping map and shuffle phases, to compare the speed of `tailcut overlap` with: see
// bench/overlap.sh. As a person would write it: jobs in binary heaps in the order of the policy, the next event,
// serve, again. It knows maxsrpt, splitsrpt and klps, work-conserving, and draws the workload of Section 5.3 of Lin, Zhang,
// Wierman and Tan, or reads lines "arrival,map,shuffle" from standard input. It rounds nothing, so ties that sums have
// rounded apart are none.
//
//   fluid POLICY JOBS LOAD SEED        draw jobs; the first tenth does not count
//   fluid POLICY - < jobs.csv          read them; all count
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <list>
#include <random>
#include <set>
#include <vector>

const double inf = std::numeric_limits<double>::infinity(), crumb = 1e-12;

struct Job {
    double arrival, map, shuffle, x, y, ratio;
    double key, tie;
    long index;
    int at[2];            // place in the heap of those with map work, and of those with shuffle work available; -1 outside
    bool ready;           // klps: has a backlog
    double take;          // klps: its shuffle rate
    double backlog() const { return y - ratio * x; }
};

bool before(const Job *a, const Job *b) {
    if (a->key != b->key) return a->key < b->key;
    if (a->tie != b->tie) return a->tie < b->tie;
    return a->index < b->index;
}

// Heap is a binary heap of jobs, the first at 0, that knows the place of each.
struct Heap {
    int which;
    std::vector<Job *> jobs;
    bool empty() const { return jobs.empty(); }
    Job *top() const { return jobs.empty() ? nullptr : jobs[0]; }
    bool has(const Job *j) const { return j->at[which] >= 0; }
    void put(Job *j, int i) { jobs[i] = j, j->at[which] = i; }
    void up(Job *j, int i) {
        for (; i > 0 && before(j, jobs[(i - 1) / 2]); i = (i - 1) / 2) put(jobs[(i - 1) / 2], i);
        put(j, i);
    }
    void down(Job *j, int i) {
        for (int n = jobs.size(), child; (child = 2 * i + 1) < n; i = child) {
            if (child + 1 < n && before(jobs[child + 1], jobs[child])) child++;
            if (!before(jobs[child], j)) break;
            put(jobs[child], i);
        }
        put(j, i);
    }
    void insert(Job *j) {
        jobs.push_back(j);
        up(j, jobs.size() - 1);
    }
    void lowered(Job *j) {
        if (has(j)) up(j, j->at[which]);
    }
    void erase(Job *j) {
        int i = j->at[which];
        Job *last = jobs.back();
        jobs.pop_back();
        j->at[which] = -1;
        if (last == j) return;
        if (i > 0 && before(last, jobs[(i - 1) / 2]))
            up(last, i);
        else
            down(last, i);
    }
};

struct Result {
    long skip, jobs = 0;
    double flow = 0, slowdown = 0, longest = 0;
    std::vector<long> buckets = std::vector<long>(1 << 21);  // of flow times, 1024 an octave, for median and p99
    void add(const Job &j, double now) {
        if (j.index < skip) return;
        double f = std::max(0.0, now - j.arrival), alone = std::max(j.map, j.shuffle);
        jobs++, flow += f, longest = std::max(longest, f);
        slowdown += alone > 0 ? f / alone : 1;
        unsigned long bits;
        memcpy(&bits, &f, 8);
        buckets[bits >> 42]++;
    }
    double quantile(double p) const {
        long rank = std::ceil(p * jobs);
        for (unsigned long i = 0; i < buckets.size(); i++)
            if ((rank -= buckets[i]) <= 0) {
                unsigned long bits = (i << 42) + (1ul << 41);
                double v;
                memcpy(&v, &bits, 8);
                return v;
            }
        return 0;
    }
};

struct Pool {
    std::vector<Job *> free;
    Job *get() {
        if (free.empty()) return new Job;
        Job *j = free.back();
        free.pop_back();
        return j;
    }
};

// Class serves jobs in one order: the first with map work is mapped, shuffle capacity walks the order.
struct Class {
    char order;  // 'l' max(x, y), 'x' x then y, 'y' y
    Heap mapping{0, {}}, ready{1, {}};
    Job *m = nullptr, *d = nullptr;
    double map_rate = 0, drain = 0;

    void rank(Job *j) {
        j->tie = 0;
        if (order == 'l') j->key = std::max(j->x, j->y);
        if (order == 'x') j->key = j->x, j->tie = j->y;
        if (order == 'y') j->key = j->y;
    }
    bool empty() const { return mapping.empty() && ready.empty(); }
    bool flowing() const { return m && !ready.has(m); }
    void admit(Job *j) {
        rank(j);
        (j->x > 0 ? mapping : ready).insert(j);
    }
    void stock() {
        ready.insert(m);
        d = ready.top();
    }
    void choose() {
        m = mapping.top(), d = ready.top();
        if (flowing() && m->ratio > 0 && d && !before(m, d)) stock();
    }
    double demand() const { return d ? inf : m ? map_rate * m->ratio : 0; }
    // walk gives out a shuffle rate and returns the time to the next event.
    double walk(double rate) {
        drain = rate;
        if (flowing()) {
            if (map_rate * m->ratio > rate)
                stock();
            else
                drain -= map_rate * m->ratio;
        }
        double due = inf;
        if (m) due = m->x / map_rate;
        if (d) {
            double falls = drain - (d == m ? map_rate * m->ratio : 0);
            if (falls > 0) due = std::min(due, std::max(0.0, d->backlog()) / falls);
        }
        return due;
    }
    template <class Done>
    void serve(double dt, Done done) {
        bool flows = flowing();
        if (m) {
            m->x -= map_rate * dt;
            if (m->x <= crumb * m->map) m->x = 0;
            if (flows) m->y = m->ratio * m->x;
            rank(m);
        }
        bool drained = false;
        if (d) {
            d->y -= drain * dt;
            drained = d->backlog() <= crumb * d->shuffle;
            if (drained) d->y = d->ratio * d->x;
            rank(d);
            mapping.lowered(d), ready.lowered(d);
        }
        if (m) mapping.lowered(m), ready.lowered(m);
        if (drained) ready.erase(d);
        if (m && m->x == 0) mapping.erase(m);
        for (Job *j : {m, d == m ? nullptr : d})
            if (j && !mapping.has(j) && !ready.has(j)) done(j);
    }
};

struct Sim {
    Result result;
    Pool pool;
    double now = 0;
    virtual void admit(Job *j) = 0;
    virtual bool empty() = 0;
    virtual void step(double until) = 0;  // to the next event or until
    void arrive(double t, double x, double y, long index) {
        run(t);
        now = t;
        Job *j = pool.get();
        *j = Job{t, x, y, x, y, x > 0 ? y / x : 0, 0, 0, index, {-1, -1}, false, 0};
        if (x == 0 && y == 0)
            finish(j);
        else
            admit(j);
    }
    void run(double until) {
        while (!empty() && now < until) step(until);
    }
    void finish(Job *j) {
        result.add(*j, now);
        pool.free.push_back(j);
    }
};

struct MaxSRPT : Sim {
    Class all{'l'};
    bool empty() override { return all.empty(); }
    void admit(Job *j) override { all.admit(j); }
    void step(double until) override {
        all.choose();
        all.map_rate = 1;
        double due = all.walk(1), dt = std::min(due, until - now);
        now = due < until - now ? now + due : until;
        all.serve(dt, [this](Job *j) { finish(j); });
    }
};

struct SplitSRPT : Sim {
    Class s1{'x'}, s2{'y'};
    std::multiset<double> imbalance;
    static double of(const Job *j) {
        double low = std::min(j->map, j->shuffle), high = std::max(j->map, j->shuffle);
        return low == 0 ? inf : high / low;
    }
    bool empty() override { return s1.empty() && s2.empty(); }
    void admit(Job *j) override {
        imbalance.insert(of(j));
        (j->map >= j->shuffle ? s1 : s2).admit(j);
    }
    void step(double until) override {
        s1.choose();
        s2.choose();
        double mu1 = 1 / (1 + *imbalance.begin()), mu2 = 1 - mu1;
        s1.map_rate = s2.m ? mu2 : 1;
        s2.map_rate = s1.m ? mu1 : 1;
        double left1 = std::max(0.0, mu1 - s1.demand()), left2 = std::max(0.0, mu2 - s2.demand());
        double due = std::min(s1.walk(mu1 + left2), s2.walk(mu2 + left1)), dt = std::min(due, until - now);
        now = due < until - now ? now + due : until;
        auto done = [this](Job *j) {
            imbalance.erase(imbalance.find(of(j)));
            finish(j);
        };
        s1.serve(dt, done);
        s2.serve(dt, done);
    }
};

// KLPS looks at every job at every event.
struct KLPS : Sim {
    size_t k = 100;
    std::list<Job *> waiting;
    std::vector<Job *> present, wants, stocks;  // wants: those without backlog, least ratio first; stocks: of these, those who get one
    bool empty() override { return present.empty(); }
    size_t mapped = 0;
    void admit(Job *j) override {
        if (j->x > 0 && mapped >= k) {
            waiting.push_back(j);
            return;
        }
        mapped += j->x > 0;
        j->ready = j->x == 0;  // has a backlog
        present.push_back(j);
    }
    void step(double until) override {
        double rate = mapped ? 1.0 / mapped : 0, left = 1;
        size_t sharers = present.size();
        wants.clear();
        for (Job *j : present)
            if (!j->ready) wants.push_back(j);
        std::sort(wants.begin(), wants.end(), [](Job *a, Job *b) { return a->ratio < b->ratio; });
        for (Job *j : wants) {
            double released = rate * j->ratio, share = left / sharers;
            j->take = released;
            if (released > share * (1 + 1e-12)) j->take = share, stocks.push_back(j);
            left = std::max(0.0, left - j->take), sharers--;
        }
        double share = sharers ? left / sharers : 0, due = inf;
        for (Job *j : present) {
            if (j->x > 0) due = std::min(due, j->x / rate);
            if (j->ready) {
                j->take = share;
                double falls = j->take - (j->x > 0 ? rate * j->ratio : 0);
                if (falls > 1e-12 * j->take && j->backlog() > crumb * j->shuffle) due = std::min(due, j->backlog() / falls);
            }
        }
        double dt = std::min(due, until - now);
        now = due < until - now ? now + due : until;
        for (Job *j : stocks) j->ready = true;
        stocks.clear();
        size_t kept = 0;
        for (Job *j : present) {
            bool was = j->x > 0;
            if (was) j->x -= rate * dt;
            if (j->x <= crumb * j->map) j->x = 0;
            if (was && j->x == 0) mapped--;
            if (j->ready) {
                j->y -= j->take * dt;
                if (j->backlog() <= crumb * j->shuffle) j->y = j->ratio * j->x, j->ready = false;
            } else
                j->y = j->ratio * j->x;
            if (j->x > 0 || j->ready)
                present[kept++] = j;
            else
                finish(j);
        }
        present.resize(kept);
        while (mapped < k && !waiting.empty()) {
            present.push_back(waiting.front());
            mapped++;
            waiting.pop_front();
        }
    }
};

int main(int argc, char **argv) {
    if (argc < 3) return fprintf(stderr, "usage: fluid maxsrpt|splitsrpt|klps JOBS LOAD SEED, or fluid POLICY -\n"), 2;
    Sim *sim;
    if (!strcmp(argv[1], "maxsrpt"))
        sim = new MaxSRPT;
    else if (!strcmp(argv[1], "splitsrpt"))
        sim = new SplitSRPT;
    else
        sim = new KLPS;
    if (!strcmp(argv[2], "-")) {
        double t, x, y;
        char head[100];
        sim->result.skip = 0;
        if (!fgets(head, sizeof head, stdin)) return 2;
        for (long i = 0; scanf("%lf,%lf,%lf", &t, &x, &y) == 3; i++) sim->arrive(t, x, y, i);
    } else {
        long n = atof(argv[2]);
        double load = argc > 3 ? atof(argv[3]) : 0.9;
        std::mt19937_64 random(argc > 4 ? atol(argv[4]) : 1);
        auto lognormal = [](double sd) {
            double v = std::log(1 + sd * sd);
            return std::lognormal_distribution<>(-v / 2, std::sqrt(v));
        };
        auto map = lognormal(3.65), ratio = lognormal(3.28);
        std::exponential_distribution<> gap(load);
        sim->result.skip = n / 10;
        double clock = 0;
        for (long i = 0; i < n; i++) {
            clock += gap(random);
            double x = map(random);
            sim->arrive(clock, x, x * ratio(random), i);
        }
    }
    sim->run(inf);
    const Result &r = sim->result;
    printf("%s,%.9g,%.6g,%.6g,%.6g,%.6g\n", argv[1], r.flow / r.jobs, r.quantile(0.5), r.quantile(0.99), r.slowdown / r.jobs, r.longest);
}

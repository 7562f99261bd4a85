#include "bullet.h"

#include <btBulletDynamicsCommon.h>
#include <memory>
#include <vector>

/* Members go in the opposite order: the world first. */
struct bullet_world {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broad;
    btSequentialImpulseConstraintSolver solver;
    std::vector<std::unique_ptr<btCollisionShape>> shape;
    std::vector<std::unique_ptr<btRigidBody>> body;
    int planes = 0;
    double friction = 0;
    btDiscreteDynamicsWorld world{&dispatcher, &broad, &solver, &configuration};

    void add(btCollisionShape *of, double mass, const btVector3 &at, const btQuaternion &turn)
    {
        btVector3 inertia(0, 0, 0);
        if (mass > 0) {
            of->calculateLocalInertia(static_cast<btScalar>(mass), inertia);
        }
        btRigidBody::btRigidBodyConstructionInfo info(static_cast<btScalar>(mass), nullptr, of,
                                                      inertia);
        info.m_friction = static_cast<btScalar>(friction);
        info.m_startWorldTransform.setIdentity();
        info.m_startWorldTransform.setOrigin(at);
        info.m_startWorldTransform.setRotation(turn);
        body.emplace_back(new btRigidBody(info));
        body.back()->setActivationState(DISABLE_DEACTIVATION); /* bodies do not sleep */
        world.addRigidBody(body.back().get());
    }

    ~bullet_world()
    {
        for (auto &one : body) {
            world.removeRigidBody(one.get());
        }
    }
};

static btVector3 vector(const double *x)
{
    return btVector3(static_cast<btScalar>(x[0]), static_cast<btScalar>(x[1]),
                     static_cast<btScalar>(x[2]));
}

bullet_world *bullet_open(double friction, int planes, const double *plane)
{
    bullet_world *w = new bullet_world;
    w->world.setGravity(btVector3(0, 0, static_cast<btScalar>(-9.81)));
    w->planes = planes;
    w->friction = std::sqrt(friction); /* a pair has the product */
    for (int i = 0; i < planes; i++) {
        w->shape.emplace_back(
            new btStaticPlaneShape(vector(plane + 4 * i), static_cast<btScalar>(plane[4 * i + 3])));
        w->add(w->shape.back().get(), 0, btVector3(0, 0, 0), btQuaternion(0, 0, 0, 1));
    }
    return w;
}

static btCollisionShape *make(bullet_shape shape, const double size[3])
{
    const btVector3 z = vector(size);
    switch (shape) {
    case BULLET_BOX:
        return new btBoxShape(z);
    case BULLET_CAPSULE:
        return new btCapsuleShapeZ(z[0], 2 * z[1]);
    case BULLET_CYLINDER:
        return new btCylinderShapeZ(btVector3(z[0], z[0], z[1]));
    default:
        return new btSphereShape(z[0]);
    }
}

void bullet_add(bullet_world *w, bullet_shape shape, const double size[3], double mass,
                const double pos[3], const double quat[4], const double v[3])
{
    const btVector3 turn = vector(quat + 1);
    w->shape.emplace_back(make(shape, size));
    w->add(w->shape.back().get(), mass, vector(pos),
           btQuaternion(turn[0], turn[1], turn[2], static_cast<btScalar>(quat[0])));
    w->body.back()->setLinearVelocity(vector(v));
}

void bullet_step(bullet_world *w, double h)
{
    w->world.stepSimulation(static_cast<btScalar>(h), 0);
}

void bullet_look(const bullet_world *w, double *pos, double *quat, double *v)
{
    for (size_t i = 0; i < w->body.size() - static_cast<size_t>(w->planes); i++) {
        const btRigidBody &b = *w->body[i + static_cast<size_t>(w->planes)];
        const btQuaternion q = b.getWorldTransform().getRotation();
        const btVector3 &x = b.getWorldTransform().getOrigin();
        for (int k = 0; k < 3; k++) {
            pos[3 * i + static_cast<size_t>(k)] = x[k];
            v[6 * i + static_cast<size_t>(k)] = b.getLinearVelocity()[k];
            v[6 * i + 3 + static_cast<size_t>(k)] = b.getAngularVelocity()[k];
        }
        quat[4 * i] = q.w();
        quat[4 * i + 1] = q.x();
        quat[4 * i + 2] = q.y();
        quat[4 * i + 3] = q.z();
    }
}

void bullet_close(bullet_world *w)
{
    delete w;
}

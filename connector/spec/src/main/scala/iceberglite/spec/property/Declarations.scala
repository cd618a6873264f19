package iceberglite.spec.property

/**
 * The members of an object, in the order of their declaration: a member is added where it is declared, so that no list
 * can lack it. The object must declare this value first.
 */
final class Declarations[A] {
  private val members = Vector.newBuilder[A]

  /** Adds a member and returns it. */
  def apply[B <: A](member: B): B = {
    members += member
    member
  }

  /** Returns the members, once the object is initialized. */
  def all: Vector[A] = members.result()
}

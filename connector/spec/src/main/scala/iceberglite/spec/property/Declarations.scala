package iceberglite.spec.property

/**
 * A list of the members of an object, in the order of their declaration. Each declaration of a member adds the member
 * to the list, so that the list is always complete. The object must declare its list before all members.
 */
final class Declarations[A] {
  private val members = Vector.newBuilder[A]

  /** Adds a member and returns it. */
  def apply[B <: A](member: B): B = {
    members += member
    member
  }

  /** Returns the members. The object must be completely initialized before the call. */
  def all: Vector[A] = members.result()
}

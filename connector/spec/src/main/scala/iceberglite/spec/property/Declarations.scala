package iceberglite.spec.property

/**
 * Collects the members of an object, such as all table properties, in the order of their declaration. The object has a
 * `private val declared = new Declarations[A]` before all members. Each member is declared in the form
 * `val Member: A = declared(...)`, which adds the member to [[all]].
 */
final class Declarations[A] {
  private val members = Vector.newBuilder[A]

  /** Adds a member and returns it. */
  def apply[B <: A](member: B): B = {
    members += member
    member
  }

  /** Returns the members that have been declared so far. Call this method after the last declaration. */
  def all: Vector[A] = members.result()
}

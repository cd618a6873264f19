package iceberglite.maintenance

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.Spelling

/** Creates errors for values that are not among the choices of an argument or option. */
object Choices {

  /**
   * Returns the error for a value. The message lists all choices and names the one that is most similar to the value.
   *
   * @param name the argument or option, such as "argument strategy"
   */
  def rejected(name: String, value: String, choices: Seq[String]): InvalidArgument = {
    val similar = Spelling.closest(value, choices).fold("")(choice => s"Did you mean $choice? ")
    InvalidArgument(name, value, s"${similar}It must be one of ${choices.mkString(", ")}")
  }
}

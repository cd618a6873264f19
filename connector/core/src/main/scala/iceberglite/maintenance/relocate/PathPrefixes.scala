package iceberglite.maintenance.relocate

import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}

/**
 * Replaces the beginning of paths. Paths are compared as text with whole path elements: the prefix `s3://b/t` is a
 * prefix of `s3://b/t/data`, but neither of `s3://b/t2` nor of `s3a://b/t/data`. A slash at the end of a prefix has no
 * effect.
 */
final case class PathPrefixes private (source: String, target: String) {
  private val sourceDirectory = PathPrefixes.directory(source)
  private val targetDirectory = PathPrefixes.directory(target)

  /**
   * Returns the path with the target prefix.
   *
   * @param what the kind of the path, for the message
   * @throws ValidationFailed if the path does not begin with the source prefix
   */
  def apply(what: String, path: String): String =
    if (PathPrefixes.directory(path) == sourceDirectory) target else targetDirectory + relative(what, path)

  /**
   * Returns the path relative to the source prefix, without a leading slash.
   *
   * @throws ValidationFailed if the path does not begin with the source prefix
   */
  def relative(what: String, path: String): String =
    if (path.startsWith(sourceDirectory) && path.length > sourceDirectory.length) path.drop(sourceDirectory.length)
    else throw ValidationFailed(
      s"Cannot rewrite the path of the $what $path: it does not begin with the source prefix $sourceDirectory. " +
        "Choose a prefix of all paths in the table's metadata, with the scheme that the metadata uses"
    )
}

object PathPrefixes {

  /** @throws InvalidArgument if a prefix is blank, or if the two prefixes are equal */
  def of(source: String, target: String): PathPrefixes = {
    Seq("source_prefix" -> source, "target_prefix" -> target).foreach { case (name, prefix) =>
      if (prefix.trim.isEmpty) throw InvalidArgument(s"argument $name", s"'$prefix'", "It must not be blank")
    }
    if (directory(source) == directory(target)) {
      throw InvalidArgument("argument target_prefix", target, "It must differ from source_prefix")
    }
    PathPrefixes(source, target)
  }

  private[relocate] def directory(path: String): String = if (path.endsWith("/")) path else s"$path/"
}

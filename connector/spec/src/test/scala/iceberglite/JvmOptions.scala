package iceberglite

/** Options of the JVMs that tests start as separate processes. */
object JvmOptions {

  /**
   * Options for programs that run only for seconds: no optimizing compiler (C2), no verification of classes, and no
   * garbage collections that the metaspace triggers before it reaches 256 MiB. Without C2, the default code cache would
   * have only 48 MiB.
   */
  val quickStart: Seq[String] = Seq(
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:ReservedCodeCacheSize=256m",
    "-XX:MetaspaceSize=256m",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote"
  )
}

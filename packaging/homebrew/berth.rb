class Berth < Formula
  desc "Hosts apps that AI agents make, with one gateway to many models"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@URL@/@VERSION@/berth-@VERSION@-darwin-arm64.gz"
      sha256 "@SHA256_darwin-arm64@"
    end
    on_intel do
      url "@URL@/@VERSION@/berth-@VERSION@-darwin-x64.gz"
      sha256 "@SHA256_darwin-x64@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/@VERSION@/berth-@VERSION@-linux-arm64.gz"
      sha256 "@SHA256_linux-arm64@"
    end
    on_intel do
      url "@URL@/@VERSION@/berth-@VERSION@-linux-x64.gz"
      sha256 "@SHA256_linux-x64@"
    end
  end

  def install
    bin.install Dir["berth-*"].first => "berth"
  end

  service do
    run [opt_bin/"berth", "serve", "--json"]
    environment_variables DATA_DIR: var/"berth"
    keep_alive true
    log_path var/"log/berth.log"
    error_log_path var/"log/berth.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/berth version")
  end
end
